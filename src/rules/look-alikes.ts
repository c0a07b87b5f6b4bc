/** Names that users and some file systems take for the same. */
export interface LookAlikes {
  readonly count: number
  readonly first: string
  readonly second: string
}

/** Finds names that differ only in case or composition (NFC, NFD), if one is new; undefined without any. */
export function findLookAlikes(names: readonly string[], isNew: (name: string) => boolean): LookAlikes | undefined {
  const groups = new Map<string, string[]>()
  for (const name of names) if (MAY_FOLD.test(name)) addTo(groups, fold(name), name)
  if (groups.size === 0) return undefined
  // Only a name that folds to another can have a twin.
  for (const name of names) if (!MAY_FOLD.test(name) && groups.has(name)) addTo(groups, name, name)
  const twins = [...groups.values()].filter(({ length }) => length > 1)
  const found = twins.filter((group) => group.some(isNew))
  const [first, second] = found[0] ?? []
  if (first === undefined || second === undefined) return undefined
  return { count: found.reduce((sum, group) => sum + group.length, 0), first, second }
}

/** Skips lower-case ASCII names quickly. */
const MAY_FOLD = /[A-Z\u0080-\uffff]/

function addTo(groups: Map<string, string[]>, key: string, name: string): void {
  const group = groups.get(key)
  if (group) group.push(name)
  else groups.set(key, [name])
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
