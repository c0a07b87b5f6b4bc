import ignore from 'ignore'
import { createLinearMatcher, isCostly } from './linear-matcher.ts'

/** The rule that decided, for `why` and for the report. */
export interface IgnoreDecision {
  /** The pattern as it was written. */
  readonly pattern: string
  /** `built-in`, `configuration`, or the relative path of a `.shelfdignore`. */
  readonly source: string
  /** Line of the `.shelfdignore`, from 1; null for the other sources. */
  readonly line: number | null
  /** What it ignores looks like a secret: said once a run. */
  readonly secret: boolean
}

/** One line of gitignore syntax. */
export interface IgnoreRule {
  readonly decision: IgnoreDecision
  /** Written with `!`: brings back what an earlier rule ignored. */
  readonly negative: boolean
  /** Whether the pattern matches this path itself; directories end with a slash, `name` is the path's last part. */
  matches(path: string, name: string): boolean
}

/** Reads one line; undefined for a comment, a blank line and a pattern that can match nothing. */
export function parseIgnoreRule(decision: IgnoreDecision): IgnoreRule | undefined {
  const { pattern } = decision
  const negative = pattern.startsWith('!')
  if (pattern.startsWith('#') || bodyOf(pattern) === '') return undefined
  const body = bodyOf(pattern)
  const isMatch = isCostly(body) ? createLinearMatcher(body, createBracketMatcher) : createMatcher(`!${body}`)
  const isAnchored = body.slice(0, -1).includes('/')
  return { decision, negative, matches: (path, name) => isMatch(isAnchored ? path : nameIn(path, name)) }
}

/** What a bracket expression, such as `[a-c]`, accepts, as `ignore` reads it. */
export function createBracketMatcher(bracket: string): (character: string) => boolean {
  // With a letter before it, since a path that is "." alone is refused.
  const isMatch = createMatcher(`!x${bracket}`)
  return (character) => isMatch(`x${character}`)
}

/** The pattern without its `!` and its trailing spaces. */
export function bodyOf(pattern: string): string {
  return pattern.replace(/^!/, '').replace(/ +$/, '')
}

function nameIn(path: string, name: string): string {
  return path.endsWith('/') ? `${name}/` : name
}

/** Paths a matcher may remember before it is made anew. */
const MAX_CACHED = 1_000

/**
 * `ignore` lets a match of a parent directory decide, which is wrong here: a deeper file may have brought the parent back,
 * and ignored directories are never entered. A lone negated rule has no say over children, so it tells whether the path
 * itself matches. It remembers every path it was asked for without bound, hence the fresh one now and then.
 */
export function createMatcher(negatedPattern: string): (path: string) => boolean {
  const compiled = ignore({ ignoreCase: false }).add(negatedPattern)
  let matcher = compiled
  let remembered = 0
  return (path) => {
    remembered += 1
    if (remembered > MAX_CACHED) {
      matcher = ignore({ ignoreCase: false }).add(compiled)
      remembered = 0
    }
    return matcher.test(path).unignored
  }
}
