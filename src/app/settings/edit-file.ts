import { isCollection, isScalar, parse, parseDocument, stringify } from 'yaml'
import { UsageError } from '../../foundation/errors.ts'
import { didYouMean } from '../did-you-mean.ts'

/** Where a setting lies in the file: keys, and the number of an entry in a list. */
export type SettingPath = readonly (string | number)[]

/**
 * Reads `limits.newPerRun`, `mirrors.NAME.settle` or `mirrors[0].settle`; throws UsageError('bad-usage') for a mirror that is not
 * configured. `mirrors`: the names in the order of the file.
 */
export function readSettingPath(key: string, mirrors: readonly string[]): SettingPath {
  const named = mirrors
    .map((name, index) => ({ index, before: `mirrors.${name}.`, length: name.length }))
    .filter(({ before }) => `${key}.`.startsWith(before))
    .toSorted((left, right) => right.length - left.length)[0]
  if (named) return ['mirrors', named.index, ...key.slice(named.before.length).split('.').filter(Boolean)]
  const [, name] = /^mirrors\.([^.]+)/.exec(key) ?? []
  if (name !== undefined)
    throw new UsageError('bad-usage', `The configuration names no mirror "${name}"${didYouMean(name, mirrors)}`)
  return key.split('.').flatMap((part) => {
    const [, list, index] = /^([^[\]]+)\[(\d+)\]$/.exec(part) ?? []
    return list === undefined ? [part] : [list, Number(index)]
  })
}

/** Returns the values that a word on the command line may mean: as YAML reads it, then the text itself. */
export function readValues(word: string): readonly unknown[] {
  try {
    const value: unknown = parse(word)
    // Text without quotes is meant as it is: YAML would take what follows a # for a comment.
    const isPlain = value === null || (typeof value === 'string' && !/^\s*['"]/.test(word))
    return isPlain ? [word] : [value, word]
  } catch {
    return [word]
  }
}

/** Returns the text of a configuration file with one value set; all else stays as it is, comments too. */
export function withSetting(source: string, path: SettingPath, value: unknown): string {
  const document = parseDocument(source)
  const old: unknown = document.getIn(path, true)
  if ((isScalar(old) || (isCollection(old) && old.flow === true)) && old.range) {
    const [start, end] = old.range
    return source.slice(0, start) + inFlow(value) + source.slice(end)
  }
  document.setIn(path, document.createNode(value))
  return document.toString({ lineWidth: 0, indentSeq: !/:\n- /.test(source) })
}

/** Writes a value so that it may stand on one line, also between brackets. */
function inFlow(value: unknown): string {
  return stringify([value], { collectionStyle: 'flow', blockQuote: false, lineWidth: 0 }).trim().slice(1, -1).trim()
}
