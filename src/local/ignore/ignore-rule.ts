import ignore, { type Ignore } from 'ignore'
import { createLinearMatcher, isCostly } from './linear-matcher.ts'

export interface IgnoreDecision {
  /** The pattern as written. For source `include`, all patterns (none matches); for `content`, the kind of secret, such as `an AWS key`. */
  readonly pattern: string
  /** `built-in`, `configuration`, `include`, `content`, or the relative path of an ignore file. */
  readonly source: string
  /** Line number in the ignore file, from 1; null for the other sources. */
  readonly line: number | null
  /** True if the rule is for files with secrets; each run reports the files that it ignores. */
  readonly secret: boolean
}

export interface IgnoreRule {
  readonly decision: IgnoreDecision
  /** True if the pattern begins with `!` and so brings ignored paths back. */
  readonly negative: boolean
  /** The path of a directory ends with a slash; `name` is its last part. */
  matches(path: string, name: string): boolean
}

/** Returns undefined for a comment, a blank line and a bare `!`. */
export function parseIgnoreRule(decision: IgnoreDecision): IgnoreRule | undefined {
  const { pattern } = decision
  const negative = pattern.startsWith('!')
  if (pattern.startsWith('#') || bodyOf(pattern) === '') return undefined
  const body = bodyOf(pattern)
  const isMatch = isCostly(body) ? createLinearMatcher(body, createBracketMatcher) : createMatcher(`!${body}`)
  const isAnchored = body.slice(0, -1).includes('/')
  return { decision, negative, matches: (path, name) => isMatch(isAnchored ? path : nameIn(path, name)) }
}

/** Returns a function that accepts the characters of a bracket expression such as `[a-c]`, as the package `ignore` reads it. */
export function createBracketMatcher(bracket: string): (character: string) => boolean {
  // The letter before the bracket is needed because `ignore` rejects the path ".".
  const isMatch = createMatcher(`!x${bracket}`)
  return (character) => isMatch(`x${character}`)
}

/** Returns a pattern for a `.shelfdignore` in the mirror's root that matches only this path, which is relative to the root. */
export function patternOfPath(path: string): string {
  // An ignore file has one pattern a line, and blanks at the end of a line do not count.
  return `/${path
    .replaceAll(/[\\*?[\]]/g, '\\$&')
    .replaceAll(/[\n\r]/g, '?')
    .replace(/ $/, '[ ]')}`
}

/** Returns the pattern without a leading `!` and without trailing spaces. */
export function bodyOf(pattern: string): string {
  return pattern.replace(/^!/, '').replace(/(?<! ) +$/, '')
}

function nameIn(path: string, name: string): string {
  return path.endsWith('/') ? `${name}/` : name
}

/** The most paths that a matcher may cache before a new one replaces it. */
const MAX_CACHED = 1_000

/**
 * Creates a matcher for a path itself. Takes a negated pattern, because for a plain one `ignore` also matches all paths below, which a
 * deeper ignore file may bring back. The cache of `ignore` has no bound, so a new instance replaces it every MAX_CACHED paths.
 */
export function createMatcher(negatedPattern: string): (path: string) => boolean {
  let compiled: Ignore | undefined
  let matcher: Ignore | undefined
  let cachedCount = 0
  return (path) => {
    cachedCount += 1
    // Compiled on first use, because most of the built-in patterns are never asked about a path.
    compiled ??= ignore({ ignoreCase: false }).add(negatedPattern)
    if (matcher === undefined || cachedCount > MAX_CACHED) {
      matcher = ignore({ ignoreCase: false }).add(compiled)
      cachedCount = 0
    }
    return matcher.test(path).unignored
  }
}
