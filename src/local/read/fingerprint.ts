import type { FileStats } from './file-system.ts'

/**
 * The cheap hint that a file is unchanged. The size is a number like every size here: it is exact up to 8 PiB, and
 * converting it (or SQLite's raw bigint) costs under 1 ms in 100,000 files. Times and inodes need all of a bigint.
 */
export interface Fingerprint {
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
}

export function fingerprintOf(stats: FileStats): Fingerprint {
  return { sizeBytes: Number(stats.size), mtimeNs: stats.mtimeNs, ctimeNs: stats.ctimeNs, inode: stats.ino }
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

/** By the mode itself: `isFile()` of a bigint stat costs as much as the rest of a scan's own work. */
export function isRegularFile(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === REGULAR
}

export function isDirectory(stats: FileStats): boolean {
  return (Number(stats.mode) & KIND_MASK) === DIRECTORY
}

export function kindOf(stats: FileStats): FileKind {
  return KINDS.get(Number(stats.mode) & KIND_MASK) ?? 'device'
}
