import {
  Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parse,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { UsageError } from '../../foundation/errors.ts'
import { didYouMean } from '../did-you-mean.ts'

/** Where a setting lies in the file: keys, and the number of an entry in a list. */
export type SettingPath = readonly (string | number)[]

/** Parses `limits.newPerRun`, `mirrors.NAME.settle` or `mirrors[0].settle`. `mirrors`: the names as in the file. Throws UsageError. */
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

/** Returns the values that an argument may mean, the likeliest first. */
export function readValues(word: string): readonly unknown[] {
  try {
    const value: unknown = parse(word)
    // A text without quotes means itself: YAML would take what follows a # for a comment.
    const isPlain = value === null || (typeof value === 'string' && !/^\s*['"]/.test(word))
    return isPlain ? [word] : [value, word]
  } catch {
    return [word]
  }
}

export function withSetting(source: string, path: SettingPath, value: unknown): string {
  const document = parseDocument(source)
  const old: unknown = document.getIn(path, true)
  if ((isScalar(old) || isAlias(old) || (isCollection(old) && old.flow === true)) && old.range) {
    const [start, end] = old.range
    // The range of an empty value ends at its comment; that of a block of text ends after its last line break.
    const gap = source[end] === '#' ? ' ' : (/\n$/.exec(source.slice(start, end))?.[0] ?? '')
    return source.slice(0, start).replace(/:$/, ': ') + toFlow(value) + gap + source.slice(end)
  }
  const above = path.slice(0, -1)
  const key = path.at(-1)
  const parent = above.length === 0 ? document.contents : document.getIn(above, true)
  if (isSeq(old) && Array.isArray(value) && value.length > 0) return withItems(source, old, value)
  if (old === undefined && typeof key === 'string') {
    if (isMap(parent) && !parent.flow) return append(source, parent, { [key]: value })
    const isEmpty = parent === undefined || (isScalar(parent) && parent.value === null)
    if (isEmpty && above.length > 0) return withSetting(source, above, { [key]: value })
  }
  document.setIn(path, document.createNode(value))
  return textOf(document, source)
}

/** Returns the source without the value; undefined if it is not in the source. Comments stay. */
export function withoutSetting(source: string, path: SettingPath): string | undefined {
  const document = parseDocument(source)
  if (!document.hasIn(path)) return undefined
  document.deleteIn(path)
  return textOf(document, source)
}

/** Prints the document. Keeps the indentation of lists, and puts comments beside keys back, which the library moves to the next line. */
function textOf(document: Document.Parsed, source: string): string {
  const beside = new Map(
    [...source.matchAll(/^(.*:) +(#.*)$/gm)].map(([line, key, comment]) => [`${key}${comment}`, line]),
  )
  return document
    .toString({ lineWidth: 0, indentSeq: !/:\n- /.test(source) })
    .replaceAll(/^(.*:)\n *(#.*)$/gm, (text, key, comment) => beside.get(`${key}${comment}`) ?? text)
}

export function withTexts(
  source: string,
  [key, ...section]: readonly [string, ...SettingPath],
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
): string {
  const document = parseDocument(source)
  const list = document.getIn([...section, key], true)
  const old = isSeq(list) ? list.items : []
  if (!isSeq(list) || old.length !== before.length || old.length === 0)
    return withSetting(source, [...section, key], after.map(literal))
  const remaining = before.map((text, index) => ({ text, item: old[index] }))
  const items = after.map((text) => {
    const at = remaining.findIndex((each) => each.text === text)
    return remaining.splice(at, at === -1 ? 0 : 1)[0]?.item ?? document.createNode(literal(text))
  })
  return withItems(source, list, items)
}

export function withSection(
  source: string,
  name: string,
  section: Readonly<Record<string, string | readonly string[]>>,
): string {
  const document = parseDocument(source)
  const list = document.get(name, true)
  const added = Object.fromEntries(
    Object.entries(section).map(([key, text]) => [key, typeof text === 'string' ? literal(text) : text.map(literal)]),
  )
  if (isSeq(list) && !list.flow) return append(source, list, [added])
  if (isSeq(list) && list.items.length > 0) return withItems(source, list, [...list.items, document.createNode(added)])
  return withSetting(source, [name], [added])
}

/** Returns the source with an entry after the last one of `to`. Comments that are indented deeper than a list belong to its last item. */
function append(source: string, to: YAMLMap | YAMLSeq, value: unknown): string {
  const column = columnAt(source, to.range?.[0] ?? 0)
  const end = endOfLine(source, lastEnd(to))
  const comments = isSeq(to) ? new RegExp(`^(?:\\n {${column + 1},}#.*)*`).exec(source.slice(end))?.[0] : ''
  const at = end + (comments?.length ?? 0)
  const lines = stringify(value, { lineWidth: 0 }).trimEnd().replaceAll(/^/gm, ' '.repeat(column))
  return `${source.slice(0, at)}\n${lines}${source.slice(at)}`
}

/** Returns the source with other items in one of its lists. */
function withItems(source: string, list: YAMLSeq, items: readonly unknown[]): string {
  const [start, flowEnd] = list.range ?? [0, 0]
  const end = list.flow ? flowEnd : endOfLine(source, lastEnd(list))
  // Anchor and comment lie outside the range that is replaced, so they must not be printed again.
  Object.assign(list, { anchor: undefined, commentBefore: null, items })
  if (!list.flow || /^[ \t]*#/.test(source.slice(end))) list.comment = null
  const printed = new Document()
  printed.contents = list
  const column = list.flow ? 0 : columnAt(source, start)
  const text = printed
    .toString({ lineWidth: 0 })
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(column)}`)
  return source.slice(0, start) + text + source.slice(end)
}

function lastEnd(node: unknown): number {
  if (isPair(node)) return lastEnd(node.value ?? node.key)
  if (isCollection(node) && !node.flow && node.items.length > 0) return lastEnd(node.items.at(-1))
  return isNode(node) ? (node.range?.[1] ?? 0) : 0
}

/** Returns the end of the line that has the character before `position`. */
function endOfLine(source: string, position: number): number {
  const end = source.indexOf('\n', Math.max(0, position - 1))
  return end === -1 ? source.length : end
}

function columnAt(source: string, position: number): number {
  return position - source.lastIndexOf('\n', position - 1) - 1
}

function literal(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/** Prints the value on one line, quoted so that it can also stand between brackets. */
function toFlow(value: unknown): string {
  return stringify([value], { collectionStyle: 'flow', blockQuote: false, lineWidth: 0 }).trim().slice(1, -1).trim()
}
