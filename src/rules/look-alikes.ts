/** Different names that look the same to users, and are the same name on some file systems. */
export interface LookAlikes {
  readonly count: number
  /** Two of the names that look alike. */
  readonly first: string
  readonly second: string
}

/** Finds groups of names that differ only in case or Unicode composition (NFC, NFD) and include a new name; undefined if there are none. */
export function findLookAlikes(names: readonly string[], isNew: (name: string) => boolean): LookAlikes | undefined {
  const groups = new Map<string, string[]>()
  for (const name of names) if (MAY_FOLD.test(name)) addTo(groups, fold(name), name)
  if (groups.size === 0) return undefined
  // A name that folds to itself has a twin only if another name folds to it.
  for (const name of names) if (!MAY_FOLD.test(name) && groups.has(name)) addTo(groups, name, name)
  const twins = [...groups.values()].filter(({ length }) => length > 1)
  const found = twins.filter((group) => group.some(isNew))
  const [first, second] = found[0] ?? []
  if (first === undefined || second === undefined) return undefined
  return { count: found.reduce((sum, group) => sum + group.length, 0), first, second }
}

/** Names without these characters, such as lower-case ASCII, fold to themselves. */
const MAY_FOLD = /[A-Z\u0080-\uffff]/

function addTo(groups: Map<string, string[]>, key: string, name: string): void {
  const group = groups.get(key)
  if (group) group.push(name)
  else groups.set(key, [name])
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
