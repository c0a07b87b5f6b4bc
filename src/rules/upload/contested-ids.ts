/** The resource id that an answer to an upload named, and the bytes that were sent. */
interface NamedResource {
  readonly resourceId: string
  readonly sha256: Uint8Array
}

/** Resource ids that were named for different bytes: one resource is one content (4.12), so nobody knows whose they are. */
export function contestedIds(named: Iterable<NamedResource>): ReadonlySet<string> {
  const owners = new Map<string, Uint8Array>()
  const contested = new Set<string>()
  for (const { resourceId, sha256 } of named) {
    const owner = owners.get(resourceId)
    if (owner === undefined) owners.set(resourceId, sha256)
    else if (Buffer.compare(owner, sha256) !== 0) contested.add(resourceId)
  }
  return contested
}
