import ignore, { type Ignore } from 'ignore'
import { createLinearMatcher, isCostly } from './linear-matcher.ts'

export interface IgnoreDecision {
  /** As its author wrote it; for `include` all patterns, since none matches; for `content` what the file holds. */
  readonly pattern: string
  /** `built-in`, `configuration`, `include`, `content`, or the relative path of a `.shelfdignore`. */
  readonly source: string
  /** Line number in the `.shelfdignore`, from 1; null for the other sources. */
  readonly line: number | null
  /** The rule ignores files that look like secrets, which each run reports. */
  readonly secret: boolean
}

export interface IgnoreRule {
  readonly decision: IgnoreDecision
  /** The pattern begins with `!` and brings ignored paths back. */
  readonly negative: boolean
  /** The path of a directory ends with a slash; `name` is its last part. */
  matches(path: string, name: string): boolean
}

/** Undefined for a comment, a blank line and a pattern that matches nothing. */
export function parseIgnoreRule(decision: IgnoreDecision): IgnoreRule | undefined {
  const { pattern } = decision
  const negative = pattern.startsWith('!')
  if (pattern.startsWith('#') || bodyOf(pattern) === '') return undefined
  const body = bodyOf(pattern)
  const isMatch = isCostly(body) ? createLinearMatcher(body, createBracketMatcher) : createMatcher(`!${body}`)
  const isAnchored = body.slice(0, -1).includes('/')
  return { decision, negative, matches: (path, name) => isMatch(isAnchored ? path : nameIn(path, name)) }
}

/** Accepts the characters of a bracket expression such as `[a-c]`, as the package `ignore` reads it. */
export function createBracketMatcher(bracket: string): (character: string) => boolean {
  // The letter before the bracket is needed because `ignore` rejects the path ".".
  const isMatch = createMatcher(`!x${bracket}`)
  return (character) => isMatch(`x${character}`)
}

/** For a `.shelfdignore` in the mirror's directory; matches this path alone. */
export function patternOfPath(path: string): string {
  // A line cannot hold a line break, and loses blanks at its end.
  return `/${path
    .replaceAll(/[\\*?[\]]/g, '\\$&')
    .replaceAll(/[\n\r]/g, '?')
    .replace(/ $/, '[ ]')}`
}

/** Without `!` and trailing spaces. */
export function bodyOf(pattern: string): string {
  return pattern.replace(/^!/, '').replace(/ +$/, '')
}

function nameIn(path: string, name: string): string {
  return path.endsWith('/') ? `${name}/` : name
}

/** Paths that a matcher may cache before a new one replaces it. */
const MAX_CACHED = 1_000

/**
 * Creates a matcher for the path itself. `ignore` also matches all paths below, but a deeper `.shelfdignore` may bring those back; a
 * negated rule does not match them. `ignore` caches without bound, so a new instance replaces it at intervals.
 */
export function createMatcher(negatedPattern: string): (path: string) => boolean {
  let compiled: Ignore | undefined
  let matcher: Ignore | undefined
  let remembered = 0
  return (path) => {
    remembered += 1
    // Most of the built-in patterns never see a path.
    compiled ??= ignore({ ignoreCase: false }).add(negatedPattern)
    if (matcher === undefined || remembered > MAX_CACHED) {
      matcher = ignore({ ignoreCase: false }).add(compiled)
      remembered = 0
    }
    return matcher.test(path).unignored
  }
}
