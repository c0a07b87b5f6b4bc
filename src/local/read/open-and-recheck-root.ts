import { constants } from 'node:fs'
import type { Clock } from '../../foundation/clock.ts'
import { messageOf, RootError, systemCodeOf } from '../../foundation/errors.ts'
import { pathWithin } from '../../foundation/files/paths.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Volume } from '../../rules/broad-and-overlapping-roots.ts'
import { isOutOfDescriptors, noAnswer } from './file-errors.ts'
import {
  ANSWER_MS,
  BIGINT,
  type FileStats,
  type FileSystem,
  isDirectory,
  nearestTimeNs,
  tryReadLink,
} from './file-system.ts'
import { FILE_SYSTEMS } from './file-system-kinds.ts'

/**
 * A root that is held open while its mirror is in use. On Linux files are opened through its descriptor, so that no other
 * directory at its path is read. Dispose of it soon, because its disk cannot be unmounted before.
 */
export interface OpenRoot extends RootDirectory, Disposable {
  /** The root as plain data for threads; valid until the root is disposed of. */
  readonly place: RootPlace
  /** Throws RootError `root-missing` unless the directory is still at its path. */
  assertInPlace(): void
}

/** Waits until the file system of the root answers; if it does not, throws RootError `root-unreadable`. */
export async function awaitRoot(
  fs: FileSystem,
  path: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const answer = fs.answers?.(path)
  if (!answer) return
  const done = new AbortController()
  const late = clock.sleep(ANSWER_MS, AbortSignal.any([signal, done.signal])).then(() => {
    throw noAnswer('statfs', [path])
  })
  try {
    await Promise.race([answer, late])
  } catch (error) {
    throw signal.aborted ? signal.reason : asRootError(error, path)
  } finally {
    late.catch(() => {})
    done.abort()
  }
}

/** Opens the root once its file system answers. Throws RootError. */
export async function openAnsweringRoot(
  fs: FileSystem,
  path: string,
  context: Parameters<typeof awaitRoot>[2],
): Promise<OpenRoot> {
  await awaitRoot(fs, path, context)
  return openRoot(fs, path)
}

/** Returns the mount points below the root whose file systems do not answer, relative to the root. */
export async function findSilent(
  fs: FileSystem,
  { realPath }: RootPlace,
  context: Parameters<typeof awaitRoot>[2],
): Promise<string[]> {
  const asked = (fs.mountsIn?.(realPath) ?? []).map(async (point) => {
    const failure = await awaitRoot(fs, point, context).catch((error: unknown) => error)
    context.signal.throwIfAborted()
    return failure === undefined ? [] : [pathWithin(realPath, point) ?? '']
  })
  return (await Promise.all(asked)).flat()
}

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
// Only Linux has paths (/proc/self/fd) that name the directory of a descriptor.
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/** Opens the root. Throws RootError `root-missing` or `root-unreadable`; rules/react-to-failure.ts decides what stops, and for how long. */
export function openRoot(fs: FileSystem, path: string): OpenRoot {
  const found = inspectRoot(fs, path)
  const opened = HAS_DESCRIPTOR_PATHS ? openDirectory(fs, path, found) : undefined
  const { realPath, device, inode } = found
  const place = { realPath, accessPath: opened?.accessPath ?? realPath, device, inode }
  const root = {
    ...found,
    ...place,
    place,
    assertInPlace: () => assertInPlace(fs, path, place, opened),
    [Symbol.dispose]: () => void (opened && fs.closeSync(opened.descriptor)),
  }
  try {
    root.assertInPlace()
    return root
  } catch (error) {
    root[Symbol.dispose]()
    throw error
  }
}

const REPLACED = ', and something else is in its place'

interface OpenedDirectory {
  readonly descriptor: number
  readonly accessPath: string
  /** What the link at `accessPath` named when the directory was opened: its path. */
  readonly link: string
}

/** Returns undefined if `/proc` is not mounted. */
function openDirectory(
  fs: FileSystem,
  path: string,
  { realPath, device, inode }: RootDirectory,
): OpenedDirectory | undefined {
  try {
    const descriptor = fs.openSync(realPath, FLAGS)
    const accessPath = `/proc/self/fd/${descriptor}`
    const { dev, ino } = fs.fstatSync(descriptor, BIGINT)
    const isSame = dev === device && ino === inode
    const link = isSame ? tryReadLink(fs, accessPath) : undefined
    if (link !== undefined) return { descriptor, accessPath, link }
    fs.closeSync(descriptor)
    if (!isSame) throw rootLost(path, REPLACED)
    return undefined
  } catch (error) {
    throw asRootError(error, path)
  }
}

function assertInPlace(fs: FileSystem, path: string, place: RootPlace, opened: OpenedDirectory | undefined): void {
  try {
    const { dev, ino } = fs.statSync(path, BIGINT)
    const isSame = dev === place.device && ino === place.inode && isUnmoved(fs, place, opened)
    if (!isSame) throw rootLost(path, REPLACED)
  } catch (error) {
    const code = systemCodeOf(error)
    if (error instanceof RootError || code === undefined) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') throw rootLost(path, '', error)
    throw asRootError(error, path)
  }
}

/** Returns whether the directory is where it was opened; its descriptor's link names its present path. */
function isUnmoved(fs: FileSystem, place: RootPlace, opened: OpenedDirectory | undefined): boolean {
  if (opened) return fs.readlinkSync(opened.accessPath) === opened.link
  return fs.realpathSync(place.realPath) === place.realPath && isInPlace(fs, place)
}

function rootLost(path: string, detail: string, cause?: unknown): RootError {
  const text = `Stopped mirroring the directory "${escapeText(path)}": it went away while it was worked on${detail}`
  return new RootError('root-missing', `${text}; the next run continues once it is back`, { cause })
}

/** A root as plain data, which can be passed to a thread. */
export interface RootPlace {
  /** Only what lies below this path may be read. */
  readonly realPath: string
  /** The path through which files are opened: that of the descriptor if the system has one, otherwise `realPath`. */
  readonly accessPath: string
  readonly device: bigint
  readonly inode: bigint
}

/** A root with what distinguishes it from another directory at the same path. */
export interface RootDirectory extends RootPlace {
  /** When the directory was created; null if the file system does not record it. */
  readonly birthNs: bigint | null
  /** False if `birthNs` is also the time of the last change, which some systems return instead. */
  readonly isBirthCertain: boolean
  /** The file system; determined only if `birthNs` is null. */
  readonly volume: Volume
}

/** Checks and identifies a root without opening it. Throws RootError `root-missing` or `root-unreadable`. */
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

/** Returns a root that is not held open. Throws the system's error. */
export function placeOf(fs: FileSystem, realPath: string): RootPlace {
  const { dev: device, ino: inode } = fs.lstatSync(realPath, BIGINT)
  return { realPath, accessPath: realPath, device, inode }
}

export function isInPlace(fs: FileSystem, { realPath, device, inode }: RootPlace): boolean {
  const now = placeOf(fs, realPath)
  return now.device === device && now.inode === inode
}

function identify(fs: FileSystem, realPath: string, stats: FileStats): RootDirectory {
  const { dev: device, ino: inode, ctimeNs, birthtimeNs = 0n } = stats
  const location = { realPath, accessPath: realPath, device, inode }
  const { kind, sizeBytes } = fileSystemAt(fs, realPath)
  if (kind?.recordsBirth && birthtimeNs !== 0n)
    return {
      ...location,
      birthNs: nearestTimeNs(birthtimeNs),
      isBirthCertain: birthtimeNs !== ctimeNs,
      volume: UNKNOWN_VOLUME,
    }
  // The UUID (on FAT the serial number) identifies the file system; a fixed size helps to do so.
  const volume =
    process.platform === 'linux'
      ? {
          id: findUuid(fs, device),
          sizeBytes: kind?.hasFixedSize && Number.isSafeInteger(sizeBytes) ? sizeBytes : null,
        }
      : UNKNOWN_VOLUME
  return { ...location, birthNs: null, isBirthCertain: false, volume }
}

function fileSystemAt(fs: FileSystem, path: string) {
  if (process.platform !== 'linux') return { kind: undefined, sizeBytes: 0 }
  const { type = 0, blocks = 0, bsize = 0 } = fs.statfsSync?.(path) ?? {}
  return { kind: FILE_SYSTEMS.get(type >>> 0), sizeBytes: blocks * bsize }
}

/** Returns a RootError for an error of the system, and any other error unchanged. */
function asRootError(thrown: unknown, path: string): unknown {
  const code = systemCodeOf(thrown)
  if (code === undefined || thrown instanceof RootError) return thrown
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return rootError('root-missing', path, 'it does not exist; check the path, or mount its disk', thrown)
  return rootError('root-unreadable', path, whyUnreadable(thrown, code), thrown)
}

function whyUnreadable(thrown: unknown, code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied; give this user the right to list it'
  if (isOutOfDescriptors(thrown)) return 'this process has too many files open; the next run tries it again'
  if (code === 'ETIMEDOUT') return 'it does not answer: a network mount may be dead; the next run tries it again'
  return messageOf(thrown)
}

function rootError(code: RootError['code'], path: string, reason: string, cause?: unknown): RootError {
  return new RootError(code, `Cannot mirror the directory "${escapeText(path)}": ${reason}`, { cause })
}

const UNKNOWN_VOLUME: Volume = { id: null, sizeBytes: null }

/** This directory has links to the devices of file systems, which are named by UUID. */
const BY_UUID = '/dev/disk/by-uuid'

/** Returns null if the UUID is unknown, as in containers and on systems without udev. */
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
