import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemCodeOf } from '../errors.ts'
import { findIntruder, type Intruder } from './ownership.ts'

/** A directory or link on a path that another user can exchange, and that user. */
export interface PathIntruder extends Intruder {
  readonly path: string
}

/** Called for each entry of a path, from the root on; throws to stop. */
type Visit = (path: string, found: Stats) => void

const MAX_LINKS = 40
// Only Linux has paths that name the directory of a descriptor, where /proc is mounted.
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')
const IS_WINDOWS = process.platform === 'win32'

/** Returns the first directory, link or file on the way that another user can exchange. Throws like `lstat`. */
export function findPathIntruder(file: string): PathIntruder | undefined {
  let intruder: PathIntruder | undefined
  walk(file, (path, found) => {
    const mode = found.isSymbolicLink() ? 0 : found.mode
    const candidate = findIntruder(path, { ...found, mode }, { owners: 'root', mayBeSticky: found.isDirectory() })
    if (candidate) intruder ??= { ...candidate, path }
  })
  return intruder
}

export interface HeldDirectory extends Disposable {
  /** Returns a path of an entry that leads into this directory even if the directory is moved. */
  at(name: string): string
  readonly realPath: string
}

/** A link or directory of another user is on the way to a path, or the directory was exchanged. */
export class ForeignPlaceError extends Error {}

/** Resolves links; returns undefined if nothing exists at the path. Throws ForeignPlaceError if another user's link is on the way. */
export function followOwnLinks(path: string): string | undefined {
  try {
    return walk(path, refuseForeignLink)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Opens a directory. Throws the system's errors, and ForeignPlaceError if another user's link is on the way. `below` is the directory that
 * the user named: no directory below it may belong to another user.
 */
export function holdDirectory(
  directory: string,
  { mayCreate = false, below }: { readonly mayCreate?: boolean; readonly below?: string } = {},
): HeldDirectory {
  const base = below === undefined ? undefined : walk(below, refuseForeignLink)
  let last: Stats | undefined
  const realPath = walk(
    directory,
    (path, found) => {
      refuseForeignLink(path, found)
      if (base !== undefined && path.startsWith(join(base, '/'))) refuseForeign(path, found)
      last = found
    },
    mayCreate,
  )
  if (!HAS_DESCRIPTOR_PATHS) return directoryAt(realPath, realPath)
  const descriptor = openSync(realPath, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const close = () => closeSync(descriptor)
  const { dev, ino } = fstatSync(descriptor)
  if (last?.dev === dev && last.ino === ino) return directoryAt(`/proc/self/fd/${descriptor}`, realPath, close)
  close()
  throw new ForeignPlaceError(`"${realPath}" was exchanged meanwhile`)
}

function directoryAt(accessPath: string, realPath: string, close = () => {}): HeldDirectory {
  return { at: (name) => join(accessPath, name), realPath, [Symbol.dispose]: close }
}

/** On Linux, opens a directory that need not be readable. */
const O_PATH = 0o10000000

function refuseForeignLink(path: string, found: Stats): void {
  if (found.isSymbolicLink()) refuseForeign(path, found)
}

function refuseForeign(path: string, { uid, gid }: Stats): void {
  const intruder = findIntruder(path, { uid, gid, mode: 0 }, { owners: 'root' })
  if (intruder) throw new ForeignPlaceError(`"${path}" decides what is written where, and ${intruder.why}`)
}

function walk(path: string, visit: Visit, mayCreate = false): string {
  if (IS_WINDOWS) {
    if (mayCreate) mkdirSync(path, { recursive: true })
    return resolve(path)
  }
  let at = '/'
  let links = 0
  visit(at, lstatSync(at))
  const names = resolve(path).split('/').filter(Boolean)
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = dirname(at)
      visit(at, lstatSync(at))
      continue
    }
    const next = join(at, name)
    const found = (mayCreate ? makeIfMissing(next) : undefined) ?? lstatSync(next)
    visit(next, found)
    if (!found.isSymbolicLink()) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS)
      throw Object.assign(new Error(`ELOOP: too many symbolic links, "${path}"`), { code: 'ELOOP', syscall: 'open' })
    const target = readlinkSync(next)
    if (target.startsWith('/')) at = '/'
    names.unshift(...target.split('/').filter((part) => part !== '' && part !== '.'))
  }
  return at
}

function makeIfMissing(directory: string): Stats | undefined {
  try {
    return lstatSync(directory)
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error
    try {
      mkdirSync(directory, 0o777)
    } catch (failure) {
      // Another call has created the directory meanwhile.
      if (systemCodeOf(failure) !== 'EEXIST') throw failure
    }
    return undefined
  }
}
