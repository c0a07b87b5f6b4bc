/** What a simulated disk consists of. */

export interface Common {
  readonly inode: bigint
  readonly birthNs: bigint
  mtimeNs: bigint
  ctimeNs: bigint
  /** False: every attempt to read it fails with EACCES. */
  isReadable: boolean
  /** Undefined for the root, and for what was removed. */
  place: { parent: Directory; name: string } | undefined
}

export interface SimulatedFile extends Common {
  readonly kind: 'file'
  bytes: Uint8Array
  /** Set: reading its bytes fails with this code. */
  fault: string | undefined
}

export interface Directory extends Common {
  readonly kind: 'directory'
  readonly device: bigint
  readonly entries: Map<string, Node>
}

interface Link extends Common {
  readonly kind: 'link'
  readonly target: string
}

interface Pipe extends Common {
  readonly kind: 'pipe'
}

export type Node = SimulatedFile | Directory | Link | Pipe

export function deviceOf(node: Node): bigint {
  let at: Node = node
  while (at.kind !== 'directory') {
    if (!at.place) return 1n
    at = at.place.parent
  }
  return at.device
}

/** Returns where a node lies now, as `/proc/self/fd` shows it. */
export function pathOf(node: Node): string {
  const names: string[] = []
  let at: Node = node
  for (; at.place; at = at.place.parent) names.unshift(at.place.name)
  return `/${names.join('/')}${at.inode === 3n ? '' : ' (deleted)'}`
}
