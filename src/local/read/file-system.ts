import nodeFs from 'node:fs'

/** Those that are used. */
export interface FileStats {
  readonly dev: bigint
  readonly ino: bigint
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /** 0 where the file system does not record it. */
  readonly birthtimeNs?: bigint
  /** The `dev` of what is mounted from the device. */
  readonly rdev?: bigint
}

type ReadDone = (error: NodeJS.ErrnoException | null, bytesRead: number) => void

/** The calls that reading a mirror needs; none writes. Spelled out, so that tests can implement it with memfs and faulty file systems. */
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
  /** `f_type` of statfs on Linux, and the size in blocks. */
  statfsSync?(path: string): { readonly type: number; readonly blocks: number; readonly bsize: number }
  /** Resolves when the path's server answers, perhaps never. Undefined where no server has to be asked. */
  answers?(path: string): Promise<void> | undefined
  /** Mount points below a real path on which `answers` has to ask. */
  mountsIn?(realPath: string): readonly string[]
}

export const ANSWER_MS = 5_000

export const nodeFileSystem: FileSystem = nodeFs

export const BIGINT = { bigint: true } as const

/** Undefined without a link, or without `/proc`. */
export function tryReadLink(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/**
 * A file with equal fingerprint counts as unchanged. The size is a number, exact up to 8 PiB, which is faster than a bigint. Times and
 * inodes are signed 64-bit numbers, as the store keeps them.
 */
export interface Fingerprint {
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

export function nearestTimeNs(timeNs: bigint): bigint {
  if (timeNs > LATEST_NS) return LATEST_NS
  return timeNs < EARLIEST_NS ? EARLIEST_NS : timeNs
}

/** Signed, since some file systems set the highest bit. */
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

/** `isFile()` of a bigint stat takes as long as everything else that a scan does here. */
export function isRegularFile(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === REGULAR
}

export function isDirectory(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === DIRECTORY
}

export function kindOf(stats: FileStats): FileKind {
  return KINDS.get(Number(stats.mode) & KIND_MASK) ?? 'device'
}
