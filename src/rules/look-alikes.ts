/** Names of one directory that users and some file systems take for the same. */
export interface LookAlikes {
  /** Names that have such a twin. */
  readonly count: number
  readonly first: string
  readonly second: string
}

/**
 * Finds names of a directory that differ only in case or in composition (NFC, NFD), if one of them is new; undefined when
 * there are none.
 */
export function findLookAlikes(names: readonly string[], isNew: (name: string) => boolean): LookAlikes | undefined {
  const groups = new Map<string, string[]>()
  for (const name of names) if (MAY_FOLD.test(name)) addTo(groups, fold(name), name)
  if (groups.size === 0) return undefined
  // A name that folds to itself can only be the twin of one that does not.
  for (const name of names) if (!MAY_FOLD.test(name) && groups.has(name)) addTo(groups, name, name)
  const twins = [...groups.values()].filter(({ length }) => length > 1)
  const found = twins.filter((group) => group.some(isNew))
  const [first, second] = found[0] ?? []
  if (first === undefined || second === undefined) return undefined
  return { count: found.reduce((sum, group) => sum + group.length, 0), first, second }
}

/** Skips lower-case ASCII names, of which a directory may have hundreds of thousands. */
const MAY_FOLD = /[A-Z\u0080-\uffff]/

function addTo(groups: Map<string, string[]>, key: string, name: string): void {
  const group = groups.get(key)
  if (group) group.push(name)
  else groups.set(key, [name])
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
