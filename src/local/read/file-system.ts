import nodeFs from 'node:fs'

/** The fields of `stat`, `lstat` and `fstat` with `bigint: true` that are used. */
export interface FileStats {
  readonly dev: bigint
  readonly ino: bigint
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /** 0 where the file system does not record it. */
  readonly birthtimeNs?: bigint
  /** Of a device: its number, which is the `dev` of what is mounted from it. */
  readonly rdev?: bigint
}

type ReadDone = (error: NodeJS.ErrnoException | null, bytesRead: number) => void

/**
 * The calls of `node:fs` that reading a mirror needs; none of them writes. The interface is spelled out instead of picked from
 * `typeof fs`, so that memfs in the simulation and faulty file systems in tests can implement it.
 */
export interface FileSystem {
  readdirSync(path: string): string[]
  readdirSync(path: string, options: { encoding: 'buffer' }): Uint8Array[]
  lstatSync(path: string, options: { bigint: true }): FileStats
  statSync(path: string, options: { bigint: true }): FileStats
  openSync(path: string, flags: number): number
  fstatSync(descriptor: number, options: { bigint: true }): FileStats
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: number): number
  read(descriptor: number, into: Uint8Array, offset: number, length: number, position: number, done: ReadDone): void
  closeSync(descriptor: number): void
  realpathSync(path: string): string
  readlinkSync(path: string): string
  accessSync(path: string, mode: number): void
  /** The kind of the file system (`f_type` of statfs on Linux), and its size in blocks. */
  statfsSync?(path: string): { readonly type: number; readonly blocks: number; readonly bsize: number }
}

export const nodeFileSystem: FileSystem = nodeFs
