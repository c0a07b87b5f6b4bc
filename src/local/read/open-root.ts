import { constants } from 'node:fs'
import { RootError, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { BIGINT, type FileSystem, tryReadLink } from './file-system.ts'
import { asRootError, inspectRoot, isInPlace, type RootDirectory, type RootPlace } from './inspect-root.ts'

/**
 * A mirror's directory, held open while it is worked on. On Linux all its files are opened through the descriptor, so that
 * nothing that takes its place is read. The descriptor keeps its disk from being unmounted: dispose of it when the work is done.
 */
export interface OpenRoot extends RootDirectory, Disposable {
  /** The part that a thread needs; its `accessPath` is good until this is disposed of. */
  readonly place: RootPlace
  /** Throws RootError unless the directory is still at its path: `root-missing`, also when something else is there. */
  assertInPlace(): void
}

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
// Only Linux has paths (/proc/self/fd) that name the directory of a descriptor.
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/** Opens a mirror's directory. Throws RootError `root-missing` or `root-unreadable`. */
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

const REPLACED = ', and something else stands in its place'

interface OpenedDirectory {
  readonly descriptor: number
  readonly accessPath: string
  /** Where the directory was when it was opened, as the system names it. */
  readonly link: string
}

/** Opens the directory that was inspected; returns undefined where `/proc` is not mounted. */
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

/** The descriptor follows the directory wherever it is moved, so its link shows a move. */
function isUnmoved(fs: FileSystem, place: RootPlace, opened: OpenedDirectory | undefined): boolean {
  if (opened) return fs.readlinkSync(opened.accessPath) === opened.link
  return fs.realpathSync(place.realPath) === place.realPath && isInPlace(fs, place)
}

function rootLost(path: string, more: string, cause?: unknown): RootError {
  const text = `Stopped mirroring the directory "${escapeText(path)}": it went away while it was worked on${more}`
  return new RootError('root-missing', `${text}; the next run continues once it is back`, { cause })
}
