import nodeFs from 'node:fs'

/** The fields of Node's `BigIntStats` that are used. */
export interface FileStats {
  readonly dev: bigint
  readonly ino: bigint
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /** When the file was created; 0 if the file system does not record it. */
  readonly birthtimeNs?: bigint
  /** Of a device: the `dev` of the files of the file system on it. */
  readonly rdev?: bigint
}

type ReadDone = (error: NodeJS.ErrnoException | null, bytesRead: number) => void

/** The calls that reading a mirror needs; none writes. Tests implement them with memfs and with faulty file systems. */
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
  /** On Linux, `type` is the magic number of the file system. */
  statfsSync?(path: string): { readonly type: number; readonly blocks: number; readonly bsize: number }
  /** Resolves when the server of the path's file system answers, perhaps never. Returns undefined if there is no server to ask. */
  answers?(path: string): Promise<void> | undefined
  /** Returns the mount points below a real path whose servers `answers` has to ask. */
  mountsIn?(realPath: string): readonly string[]
}

/** How long to wait for the answer of a file system. */
export const ANSWER_MS = 5_000

export const nodeFileSystem: FileSystem = nodeFs

export const BIGINT = { bigint: true } as const

/** Returns undefined if the link cannot be read, as in `/proc` where that is not mounted. */
export function tryReadLink(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/** A file with an equal fingerprint counts as unchanged. Times and inode are signed 64-bit numbers, since the store has no others. */
export interface Fingerprint {
  /** Exact up to 8 PiB; a number is faster than a bigint. */
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
}

type FingerprintStats = Pick<FileStats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino'>

export function fingerprintOf({ size, mtimeNs, ctimeNs, ino }: FingerprintStats): Fingerprint {
  return {
    sizeBytes: Number(size),
    mtimeNs: nearestTimeNs(mtimeNs),
    ctimeNs: nearestTimeNs(ctimeNs),
    inode: numberOfNode(ino),
  }
}

const EARLIEST_NS = -(2n ** 63n)
const LATEST_NS = 2n ** 63n - 1n

/** Limits a time to what a signed 64-bit number can hold. */
export function nearestTimeNs(timeNs: bigint): bigint {
  if (timeNs > LATEST_NS) return LATEST_NS
  return timeNs < EARLIEST_NS ? EARLIEST_NS : timeNs
}

/** Returns an inode or device as a signed 64-bit number, because some file systems set the highest bit. */
export function numberOfNode(number: bigint): bigint {
  return BigInt.asIntN(64, number)
}

export function sameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.inode === b.inode
}

const KIND_MASK = 0o170000
const DIRECTORY = 0o040000
const REGULAR = 0o100000

const KINDS: ReadonlyMap<number, FileKind> = new Map([
  [REGULAR, 'file'],
  [DIRECTORY, 'directory'],
  [0o120000, 'symlink'],
  [0o010000, 'pipe'],
  [0o140000, 'socket'],
])

export type FileKind = 'file' | 'directory' | 'symlink' | 'pipe' | 'socket' | 'device'

/** Returns what `isFile()` of the stats would, which for bigints takes as long as everything else that a scan does with them. */
export function isRegularFile(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === REGULAR
}

export function isDirectory(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === DIRECTORY
}

export function kindOf(stats: FileStats): FileKind {
  return KINDS.get(Number(stats.mode) & KIND_MASK) ?? 'device'
}
