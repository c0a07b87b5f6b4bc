import ignore, { type Ignore } from 'ignore'
import { createLinearMatcher, isCostly } from './linear-matcher.ts'

/** The rule that decided whether a path is ignored, for `why` and for the report. */
export interface IgnoreDecision {
  /** The pattern as its author wrote it; for the source `include` all of them, since none matches. */
  readonly pattern: string
  /** `built-in`, `configuration`, `include`, or the relative path of a `.shelfdignore`. */
  readonly source: string
  /** Line number in the `.shelfdignore`, from 1; null for the other sources. */
  readonly line: number | null
  /** The rule ignores files that look like secrets, which each run reports once. */
  readonly secret: boolean
}

/** One line of gitignore syntax. */
export interface IgnoreRule {
  readonly decision: IgnoreDecision
  /** The pattern begins with `!`: it brings back paths that an earlier rule ignored. */
  readonly negative: boolean
  /** Returns whether the pattern matches this path itself. The path of a directory ends with a slash; `name` is its last part. */
  matches(path: string, name: string): boolean
}

/** Parses one line; returns undefined for a comment, a blank line and a pattern that can match nothing. */
export function parseIgnoreRule(decision: IgnoreDecision): IgnoreRule | undefined {
  const { pattern } = decision
  const negative = pattern.startsWith('!')
  if (pattern.startsWith('#') || bodyOf(pattern) === '') return undefined
  const body = bodyOf(pattern)
  const isMatch = isCostly(body) ? createLinearMatcher(body, createBracketMatcher) : createMatcher(`!${body}`)
  const isAnchored = body.slice(0, -1).includes('/')
  return { decision, negative, matches: (path, name) => isMatch(isAnchored ? path : nameIn(path, name)) }
}

/** Creates a test for the characters that a bracket expression such as `[a-c]` accepts, as the package `ignore` reads it. */
export function createBracketMatcher(bracket: string): (character: string) => boolean {
  // The letter before the bracket is needed because `ignore` rejects the path ".".
  const isMatch = createMatcher(`!x${bracket}`)
  return (character) => isMatch(`x${character}`)
}

/** Returns the pattern that matches this path of a mirror alone, for a `.shelfdignore` in the mirror's directory. */
export function patternOfPath(path: string): string {
  // A line cannot hold a line break, and loses blanks at its end.
  return `/${path
    .replaceAll(/[\\*?[\]]/g, '\\$&')
    .replaceAll(/[\n\r]/g, '?')
    .replace(/ $/, '[ ]')}`
}

/** Returns the pattern without its `!` and its trailing spaces. */
export function bodyOf(pattern: string): string {
  return pattern.replace(/^!/, '').replace(/ +$/, '')
}

function nameIn(path: string, name: string): string {
  return path.endsWith('/') ? `${name}/` : name
}

/** Paths that a matcher may cache before a new one replaces it. */
const MAX_CACHED = 1_000

/**
 * Creates a matcher for the path itself from a negated pattern. `ignore` also applies a pattern to all paths below a match, which
 * is wrong here: a deeper `.shelfdignore` may have brought the parent back, and a scan does not enter ignored directories anyway. A
 * negated rule alone does not apply to the paths below. `ignore` caches every path without bound, so a new instance replaces it at
 * intervals.
 */
export function createMatcher(negatedPattern: string): (path: string) => boolean {
  let compiled: Ignore | undefined
  let matcher: Ignore | undefined
  let remembered = 0
  return (path) => {
    remembered += 1
    // Compiled by the first path: most of the built-in patterns never see one.
    compiled ??= ignore({ ignoreCase: false }).add(negatedPattern)
    if (matcher === undefined || remembered > MAX_CACHED) {
      matcher = ignore({ ignoreCase: false }).add(compiled)
      remembered = 0
    }
    return matcher.test(path).unignored
  }
}
