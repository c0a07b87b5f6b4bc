import nodeFs from 'node:fs'

/** One entry of a listing, its kind as the directory says it. */
export interface DirectoryEntry<Name> {
  readonly name: Name
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
  isFIFO(): boolean
  isSocket(): boolean
}

/** What `lstat` and `fstat` tell with `bigint: true`, as far as it is used. */
export interface FileStats {
  readonly dev: bigint
  readonly ino: bigint
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /** 0 where the file system does not tell it. */
  readonly birthtimeNs?: bigint
}

type ReadDone = (error: NodeJS.ErrnoException | null, bytesRead: number) => void

/**
 * The few calls of `node:fs` that reading a mirror takes, as a parameter: all of them read. Spelled out
 * instead of picked from `typeof fs`, so that a simulation (memfs) or a fault in a test is one as well.
 */
export interface FileSystem {
  readdirSync(path: string, options: { withFileTypes: true }): DirectoryEntry<string>[]
  readdirSync(path: string, options: { encoding: 'buffer'; withFileTypes: true }): DirectoryEntry<Uint8Array>[]
  lstatSync(path: string, options: { bigint: true }): FileStats
  openSync(path: string, flags: number): number
  fstatSync(descriptor: number, options: { bigint: true }): FileStats
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: number): number
  read(descriptor: number, into: Uint8Array, offset: number, length: number, position: number, done: ReadDone): void
  closeSync(descriptor: number): void
  realpathSync(path: string): string
  readlinkSync(path: string): string
  accessSync(path: string, mode: number): void
  /** The kind of the file system (`f_type` of statfs on Linux). */
  statfsSync?(path: string): { readonly type: number }
}

export const nodeFileSystem: FileSystem = nodeFs
