import { bodyOf } from './ignore-rule.ts'
import { isCostly } from './linear-matcher.ts'

/**
 * Creates a fast test for names: it returns true for every name that one of the patterns may match, and may return true for others.
 * One Set and one RegExp replace a match of each pattern in turn.
 */
export function createNameFilter(patterns: readonly string[]): (name: string) => boolean {
  const globs = patterns.map(nameGlobOf)
  if (globs.some((glob) => glob === undefined || /^\*+$/.test(glob) || isCostly(glob))) return () => true
  const known = globs.filter((glob) => glob !== undefined)
  const names = new Set(known.filter((glob) => !/[*?]/.test(glob)))
  const wild = known.filter((glob) => /[*?]/.test(glob))
  if (wild.length === 0) return (name) => names.has(name)
  const shape = new RegExp(wild.map(toSource).join('|'), 's')
  return (name) => names.has(name) || shape.test(name)
}

/** The last part of a pattern, with `?` for each bracket expression; undefined for escapes and unusual brackets. */
function nameGlobOf(pattern: string): string | undefined {
  if (pattern.includes('\\')) return undefined
  const glob = bodyOf(pattern)
    .replace(/\/$/, '')
    .replace(/\[[^\][/!^:][^\][/:]*\]/g, '?')
  return glob.includes('[') ? undefined : glob.slice(glob.lastIndexOf('/') + 1)
}

/** Leaves a star at either end out and the expression unanchored there, which is faster than a leading `.*`. */
function toSource(glob: string): string {
  const [, start = '', middle = '', end = ''] = /^(\**)(.*?)(\**)$/s.exec(glob) ?? []
  const source = middle
    .replace(/[.+^${}()|\\/\-#]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return (start ? '' : '^') + source + (end ? '' : '$')
}
