import { bodyOf } from './ignore-rule.ts'
import { isCostly } from './linear-matcher.ts'

/**
 * A cheap test that is true for the name of everything the patterns may match: one Set and one RegExp instead of every
 * pattern in turn. It may be true too often, never too rarely.
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

/** What a pattern asks of the last part of a path, brackets widened to `?`; undefined where that is hard to say. */
function nameGlobOf(pattern: string): string | undefined {
  if (pattern.includes('\\')) return undefined
  const glob = bodyOf(pattern)
    .replace(/\/$/, '')
    .replace(/\[[^\][/!^:][^\][/:]*\]/g, '?')
  return glob.includes('[') ? undefined : glob.slice(glob.lastIndexOf('/') + 1)
}

/** Open ends stay unanchored, which spares the regular expression the scan that a leading `.*` would cost. */
function toSource(glob: string): string {
  const [, start = '', middle = '', end = ''] = /^(\**)(.*?)(\**)$/s.exec(glob) ?? []
  const source = middle
    .replace(/[.+^${}()|\\/\-#]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return (start ? '' : '^') + source + (end ? '' : '$')
}
