import { parentOf } from '../../foundation/files/paths.ts'

interface Node<Value> {
  value: Value | undefined
  below: Set<string> | undefined
}

/** A map of values by relative path ('' is the root) that also finds all paths below one. */
export class PathTree<Value extends object> {
  readonly #nodes = new Map<string, Node<Value>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(path: string): Value | undefined {
    return this.#nodes.get(path)?.value
  }

  set(path: string, value: Value): void {
    const node = this.#nodeAt(path)
    if (node.value === undefined) this.#size += 1
    node.value = value
  }

  *entries(): Generator<readonly [path: string, value: Value]> {
    for (const [path, { value }] of this.#nodes) if (value !== undefined) yield [path, value]
  }

  /** Removes and returns the value of one path; those below stay. */
  take(path: string): Value | undefined {
    const node = this.#nodes.get(path)
    if (node?.value === undefined) return undefined
    const { value } = node
    node.value = undefined
    this.#size -= 1
    this.#prune(path)
    return value
  }

  /** The paths that have values: `path` and those below it. */
  pathsFrom(path: string): string[] {
    const node = this.#nodes.get(path)
    if (node === undefined) return []
    const below = [...(node.below ?? [])].flatMap((inner) => this.pathsFrom(inner))
    return node.value === undefined ? below : [path, ...below]
  }

  #nodeAt(path: string): Node<Value> {
    const known = this.#nodes.get(path)
    if (known) return known
    const node: Node<Value> = { value: undefined, below: undefined }
    this.#nodes.set(path, node)
    if (path !== '') {
      const above = this.#nodeAt(parentOf(path))
      above.below ??= new Set()
      above.below.add(path)
    }
    return node
  }

  /** Removes nodes without a value and without children, from `path` upwards. */
  #prune(path: string): void {
    const node = this.#nodes.get(path)
    if (node === undefined || node.value !== undefined || (node.below?.size ?? 0) > 0) return
    this.#nodes.delete(path)
    if (path === '') return
    this.#nodes.get(parentOf(path))?.below?.delete(path)
    this.#prune(parentOf(path))
  }
}
