import { joinPath, nameOf, parentOf } from '../../foundation/files/paths.ts'
import { bodyOf, type IgnoreRule, parseIgnoreRule } from './ignore-rule.ts'

/** The files that match a pattern of `include`, and all files below a directory that matches one. */
export interface Selection {
  /** Returns whether an entry is chosen, or is a directory that may hold chosen files. */
  takes(relativeDirectory: string, name: string, isDirectory: boolean): boolean
}

/** The patterns are relative to the root of the mirror, and `flawOf` must have returned undefined for each. */
export function createSelection(patterns: readonly string[]): Selection {
  const chosen = rulesOf(patterns)
  const above = patterns.some(matchesAtAnyDepth) ? undefined : rulesOf(patterns.flatMap(patternsAbove))
  const isWhole = createWholeDirectoryTest(chosen)
  return {
    takes(directory, name, isDirectory) {
      if (isWhole(directory)) return true
      const path = joinPath(directory, name)
      if (!isDirectory) return matches(chosen, path, name)
      return above === undefined || matches(chosen, `${path}/`, name) || matches(above, `${path}/`, name)
    },
  }
}

/** If the pattern can choose nothing, returns what the message says is expected; otherwise undefined. */
export function flawOf(pattern: string): string | undefined {
  if (pattern.startsWith('!')) return 'a pattern without "!"; to leave files out, use ignore'
  if (ruleOf(pattern) === undefined) return 'a pattern, not empty and no comment'
  if (/^\.{1,2}\//.test(pattern)) return 'a pattern that begins in the directory of the mirror, without "./" or "../"'
  if (/\\[\p{L}\p{N}]/u.test(pattern)) return 'a pattern with "/" between directories, on every system'
  return undefined
}

/** The patterns that no file has matched yet. */
export class UnmatchedPatterns {
  readonly #unmatched = new Map<string, Selection>()

  constructor(patterns: readonly string[]) {
    for (const pattern of patterns) this.#unmatched.set(pattern, createSelection([pattern]))
  }

  /** Removes and returns the patterns that match one of these files. */
  takeMatching(relativeDirectory: string, names: Iterable<string>): string[] {
    const matching: string[] = []
    for (const name of this.#unmatched.size === 0 ? [] : names) {
      for (const [pattern, selection] of this.#unmatched) {
        if (!selection.takes(relativeDirectory, name, false)) continue
        this.#unmatched.delete(pattern)
        matching.push(pattern)
      }
    }
    return matching
  }
}

function rulesOf(patterns: readonly string[]): IgnoreRule[] {
  return patterns.map(ruleOf).filter((rule) => rule !== undefined)
}

function ruleOf(pattern: string): IgnoreRule | undefined {
  return parseIgnoreRule({ pattern, source: 'include', line: null, secret: false })
}

function matches(rules: readonly IgnoreRule[], path: string, name: string): boolean {
  return rules.some((rule) => rule.matches(path, name))
}

/** Returns a test for directories of which all files are chosen. It caches its last answer, since a scan asks for each entry. */
function createWholeDirectoryTest(chosen: readonly IgnoreRule[]): (directory: string) => boolean {
  let last = { directory: '', isWhole: false }
  const isWhole = (directory: string): boolean => {
    if (directory === last.directory) return last.isWhole
    if (directory === '') return false
    const answer = isWhole(parentOf(directory)) || matches(chosen, `${directory}/`, nameOf(directory))
    last = { directory, isWhole: answer }
    return answer
  }
  return isWhole
}

function matchesAtAnyDepth(pattern: string): boolean {
  const body = bodyOf(pattern)
  return !body.slice(0, -1).includes('/') || body.startsWith('**/') || /[[\\]/.test(body)
}

/** Returns patterns of the directories above a match, such as `/a/` and `/a/b/` for `a/b/c`; from `**` on, of all directories. */
function patternsAbove(pattern: string): string[] {
  const parts = bodyOf(pattern).replace(/^\//, '').replace(/\/$/, '').split('/').slice(0, -1)
  const anywhere = parts.findIndex((part) => /^\*{2,}$/.test(part))
  const named = anywhere === -1 ? parts : parts.slice(0, anywhere)
  const above = named.map((_, index) => `/${named.slice(0, index + 1).join('/')}/`)
  return anywhere === -1 ? above : [...above, `/${[...named, '**'].join('/')}`]
}
