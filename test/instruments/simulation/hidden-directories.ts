/** Directories that cannot be read, and what was known to lie below each when that began (P11). */
import type { SimulatedDisk } from './disk.ts'
import type { SimulatedState } from './state.ts'

interface Hidden {
  readonly inode: bigint
  readonly ctimeNs: bigint
  readonly files: readonly string[]
}

export class HiddenDirectories {
  readonly #root: string
  readonly #disk: SimulatedDisk
  readonly #state: SimulatedState
  readonly #hidden = new Map<string, Hidden>()

  constructor(root: string, disk: SimulatedDisk, state: SimulatedState) {
    this.#root = root
    this.#disk = disk
    this.#state = state
  }

  /** This path can no longer be read, as of now. */
  record(path: string): void {
    const node = this.#disk.list(this.#root).get(path)
    if (node?.kind !== 'directory') return
    const files = this.#state.judging.listPaths().filter((file) => file.startsWith(`${path}/`))
    this.#hidden.set(path, { inode: node.inode, ctimeNs: node.ctimeNs, files })
  }

  /** The machine lost power: what an change recorded since the last durable commit need not be known any more. */
  losePower(): void {
    const known = new Set(this.#state.judging.listPaths())
    for (const [path, { files, ...directory }] of this.#hidden) {
      this.#hidden.set(path, { ...directory, files: files.filter((file) => known.has(file)) })
    }
  }

  /** What was known before may be forgotten from now on. */
  forget(): void {
    this.#hidden.clear()
  }

  /** A file that is no longer known: nobody can know that it is gone while the same directory still cannot be read. */
  findForgotten(): string | undefined {
    if (this.#hidden.size === 0) return undefined
    const nodes = this.#disk.list(this.#root)
    const known = new Set(this.#state.judging.listPaths())
    for (const [path, { inode, ctimeNs, files }] of this.#hidden) {
      const node = nodes.get(path)
      const isHidden = node?.inode === inode && node.ctimeNs === ctimeNs && !node.isReadable
      if (!isHidden) this.#hidden.delete(path)
      const forgotten = isHidden ? files.find((file) => !known.has(file)) : undefined
      if (forgotten !== undefined) return forgotten
    }
    return undefined
  }
}
