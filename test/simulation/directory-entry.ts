import type { DirectoryEntry } from '../../src/local/read/file-system.ts'

type Kind = 'file' | 'directory' | 'link' | 'pipe'

/** One entry of a listed directory. */
export class Entry<Name> implements DirectoryEntry<Name> {
  readonly name: Name
  readonly kind: Kind

  constructor(name: Name, kind: Kind) {
    this.name = name
    this.kind = kind
  }

  isFile(): boolean {
    return this.kind === 'file'
  }

  isDirectory(): boolean {
    return this.kind === 'directory'
  }

  isSymbolicLink(): boolean {
    return this.kind === 'link'
  }

  isFIFO(): boolean {
    return this.kind === 'pipe'
  }

  isSocket(): boolean {
    return false
  }
}
