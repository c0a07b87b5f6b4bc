import { constants } from 'node:fs'
import { messageOf, RootError, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Volume } from '../../rules/mirror-roots.ts'
import { isOutOfDescriptors } from './file-errors.ts'
import { BIGINT, type FileStats, type FileSystem, isDirectory } from './file-system.ts'
import { FILE_SYSTEMS } from './file-system-kinds.ts'

/** Where the files of a mirror are read. Plain data, so that it can be passed to a thread. */
export interface RootPlace {
  /** What is read must lie below it. */
  readonly realPath: string
  /** Everything is opened through it: the open directory (`OpenRoot`) where the system has a path for that, else `realPath`. */
  readonly accessPath: string
  readonly device: bigint
  readonly inode: bigint
}

/** A mirror's directory, with what distinguishes it from another directory at the same path. */
export interface RootDirectory extends RootPlace {
  /** When the directory was created; null where the file system does not record it. */
  readonly birthNs: bigint | null
  /** False where `birthNs` may be the time of the last change, which some systems return in its place. */
  readonly isBirthCertain: boolean
  /** Known where `birthNs` is not. */
  readonly volume: Volume
}

/** Reads the identity of a mirror's directory; throws RootError `root-missing` or `root-unreadable`. */
export function inspectRoot(fs: FileSystem, path: string): RootDirectory {
  try {
    const realPath = fs.realpathSync(path)
    const stats = fs.lstatSync(realPath, BIGINT)
    if (!isDirectory(stats))
      throw rootError('root-missing', path, 'it is not a directory; name the directory that holds it')
    fs.accessSync(realPath, constants.R_OK | constants.X_OK)
    return identify(fs, realPath, stats)
  } catch (error) {
    throw asRootError(error, path)
  }
}

/** The place of a directory that is not held open; throws the system's error. */
export function placeOf(fs: FileSystem, realPath: string): RootPlace {
  const { dev: device, ino: inode } = fs.lstatSync(realPath, BIGINT)
  return { realPath, accessPath: realPath, device, inode }
}

/** Returns whether the directory at the root's path is the one that was inspected. */
export function isInPlace(fs: FileSystem, { realPath, device, inode }: RootPlace): boolean {
  const now = placeOf(fs, realPath)
  return now.device === device && now.inode === inode
}

function identify(fs: FileSystem, realPath: string, stats: FileStats): RootDirectory {
  const { dev: device, ino: inode, ctimeNs, birthtimeNs = 0n } = stats
  const known = { realPath, accessPath: realPath, device, inode }
  const { kind, sizeBytes } = fileSystemAt(fs, realPath)
  if (kind?.recordsBirth && birthtimeNs !== 0n)
    return { ...known, birthNs: birthtimeNs, isBirthCertain: birthtimeNs !== ctimeNs, volume: UNKNOWN_VOLUME }
  // The UUID (of FAT: the serial number) identifies a file system, and so does its size unless that may vary.
  const volume =
    process.platform === 'linux'
      ? { id: findUuid(fs, device), sizeBytes: kind?.hasFixedSize ? sizeBytes : null }
      : UNKNOWN_VOLUME
  return { ...known, birthNs: null, isBirthCertain: false, volume }
}

function fileSystemAt(fs: FileSystem, path: string) {
  if (process.platform !== 'linux') return { kind: undefined, sizeBytes: 0 }
  const { type = 0, blocks = 0, bsize = 0 } = fs.statfsSync?.(path) ?? {}
  return { kind: FILE_SYSTEMS.get(type >>> 0), sizeBytes: blocks * bsize }
}

/** Converts a system error of looking at a root into a RootError; returns any other error unchanged. */
export function asRootError(thrown: unknown, path: string): unknown {
  const code = systemCodeOf(thrown)
  if (code === undefined || thrown instanceof RootError) return thrown
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return rootError('root-missing', path, 'it does not exist; check the path, or mount its disk', thrown)
  return rootError('root-unreadable', path, whyUnreadable(thrown, code), thrown)
}

function whyUnreadable(thrown: unknown, code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied; give this user the right to list it'
  if (isOutOfDescriptors(thrown)) return 'this process has too many files open; the next run tries it again'
  return messageOf(thrown)
}

function rootError(code: RootError['code'], path: string, reason: string, cause?: unknown): RootError {
  return new RootError(code, `Cannot mirror the directory "${escapeText(path)}": ${reason}`, { cause })
}

const UNKNOWN_VOLUME: Volume = { id: null, sizeBytes: null }

/** Links of these names lead to the devices of file systems. */
const BY_UUID = '/dev/disk/by-uuid'

/** Containers and systems without udev have no such links. */
function findUuid(fs: FileSystem, device: bigint): string | null {
  try {
    return fs.readdirSync(BY_UUID).find((name) => leadsTo(fs, `${BY_UUID}/${name}`, device)) ?? null
  } catch {
    return null
  }
}

function leadsTo(fs: FileSystem, link: string, device: bigint): boolean {
  try {
    return fs.statSync(link, BIGINT).rdev === device
  } catch {
    return false
  }
}
