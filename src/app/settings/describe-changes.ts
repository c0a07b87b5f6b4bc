import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { ConfiguredMirror, Settings } from './settings.ts'

/** Keys whose values are never shown; arguments of a command may hold a secret. */
const SECRET = /\.(token|tokenCommand|passwordCommand)$|^notify\.(command|webhooks)$|(^|\.)hooks\.(before|after)$/
const MAX_VALUE = 120

/** Returns differences such as `mirrors.papers.settleMs: 5000 → 2000`. An added or removed mirror is one change. */
export function describeChanges(before: Settings, after: Settings): string[] {
  const added = without(after.mirrors, before.mirrors)
  const removed = without(before.mirrors, after.mirrors)
  return [
    ...added.map(
      (mirror) =>
        `${nameOf(mirror)} was added: ${show(mirror.path)} → ${show(`${mirror.library}:${mirror.remotePath}`)}`,
    ),
    ...removed.map((mirror) => `${nameOf(mirror)} was removed`),
    ...compareValues(
      { ...before, mirrors: without(before.mirrors, removed) },
      { ...after, mirrors: without(after.mirrors, added) },
    ),
  ]
}

function nameOf({ name }: ConfiguredMirror): string {
  return `mirrors.${escapeText(name)}`
}

/** Returns the mirrors whose names do not occur in `others`. */
function without(mirrors: readonly ConfiguredMirror[], others: readonly ConfiguredMirror[]): ConfiguredMirror[] {
  return mirrors.filter(({ name }) => others.every((other) => other.name !== name))
}

function compareValues(before: Settings, after: Settings): string[] {
  const [old, now] = [flatten(before), flatten(after)]
  const keys = [...new Set([...old.keys(), ...now.keys()])].sort()
  return keys.flatMap((key) => {
    const [from, to] = [old.get(key), now.get(key)]
    if (from === to) return []
    const name = escapeText(key)
    return SECRET.test(key) ? [`${name} changed`] : [`${name}: ${show(from)} → ${show(to)}`]
  })
}

function show(value: string | undefined): string {
  return value === undefined ? 'not set' : truncateText(escapeText(value), MAX_VALUE)
}

/** Returns the values by dotted path. The path of a mirror has its name, not its number, because the order has no meaning. */
function flatten(settings: Settings): Map<string, string> {
  const flat = new Map<string, string>()
  const { mirrors, ...rest } = settings
  add(flat, '', { ...rest, mirrors: Object.fromEntries(mirrors.map((mirror) => [mirror.name, mirror])) })
  return flat
}

function add(flat: Map<string, string>, path: string, value: unknown): void {
  if (value === undefined) return
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) add(flat, path === '' ? key : `${path}.${key}`, inner)
  } else flat.set(path, value === null ? 'none' : JSON.stringify(value))
}
