import nodeFs, { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWithin } from '../../foundation/files/paths.ts'
import type { FileSystem } from './file-system.ts'
import { type CallName, SharedMount } from './shared-mount.ts'

/** The maximum age of the list of mounts; `answers` and `mountsIn` always read it again. */
const LIST_MS = 1_000

let mounts: SharedMounts = new Map()
let readAtMs = Number.NEGATIVE_INFINITY
/** By mount identifier, because another mount may follow at the same mount point. */
const mountsById = new Map<string, SharedMount>()
const mountsByDescriptor = new Map<number, SharedMount>()

const DESCRIPTOR_PATH = /^\/proc\/self\/fd\/(\d+)(\/|$)/

/**
 * The file system for threads that must not wait without end. Each call on a shared mount is made by a thread of that mount, and fails with
 * ETIMEDOUT after 5 s. Other calls only look at the list of mounts.
 */
export const boundedFileSystem: Required<FileSystem> = {
  readdirSync: (path: string, ...options: unknown[]) => callOnPath<never>('readdirSync', path, ...options),
  lstatSync: (path, options) => callOnPath('lstatSync', path, options),
  statSync: (path, options) => callOnPath('statSync', path, options),
  realpathSync: (path) => callOnPath('realpathSync', path),
  readlinkSync: (path) => callOnPath('readlinkSync', path),
  accessSync: (path, mode) => callOnPath('accessSync', path, mode),
  statfsSync: (path) => callOnPath('statfsSync', path),
  openSync(path, flags) {
    const mount = mountOf(path)
    const descriptor: number = callOn(mount, 'openSync', path, flags)
    if (mount) mountsByDescriptor.set(descriptor, mount)
    return descriptor
  },
  fstatSync: (descriptor, options) => callOn(mountsByDescriptor.get(descriptor), 'fstatSync', descriptor, options),
  readSync(descriptor, into, offset, length, position) {
    const owner = mountsByDescriptor.get(descriptor)
    if (!owner) return nodeFs.readSync(descriptor, into, offset, length, position)
    const bytes: Uint8Array = callOn(owner, 'readSync', descriptor, length, position)
    into.set(bytes, offset)
    return bytes.length
  },
  read(descriptor, into, offset, length, position, done) {
    const owner = mountsByDescriptor.get(descriptor)
    if (!owner) return nodeFs.read(descriptor, into, offset, length, position, done)
    owner.read(descriptor, length, position).then(
      (bytes) => {
        into.set(bytes, offset)
        done(null, bytes.length)
      },
      (error) => done(error, 0),
    )
  },
  closeSync(descriptor) {
    const owner = mountsByDescriptor.get(descriptor)
    if (!owner) return nodeFs.closeSync(descriptor)
    mountsByDescriptor.delete(descriptor)
    owner.close(descriptor)
  },
  answers(path) {
    refreshMounts()
    return mountOf(path) && askMounts(path)
  },
  mountsIn(realPath) {
    refreshMounts()
    return [...mounts.keys()].filter((point) => point !== realPath && isWithin(realPath, point))
  },
}

/** Waits until the mount that a path leads to answers. If that is an automount, also waits for the file system that it mounts. */
async function askMounts(path: string): Promise<void> {
  let asked: SharedMount | undefined
  for (let mount = mountOf(path); mount && mount !== asked; mount = mountOf(path)) {
    await mount.answers()
    asked = mount
    refreshMounts()
  }
}

/** Resolves the links of a path, except on a shared mount that has not answered. Throws the system's error. */
export function realPathWithoutAsking(path: string): string {
  const found = findShared(path, currentMounts())
  if (!found) return nodeFs.realpathSync(path)
  const mount = mountAt(found)
  return mount.hasAnswered ? callOn(mount, 'realpathSync', found.path) : found.path
}

/** Returns whether a directory lies on a shared mount or holds one, so that only threads may walk it. */
export function mayBlock(realPath: string): boolean {
  return isShared(realPath) || boundedFileSystem.mountsIn(realPath).length > 0
}

/** Returns whether a real path lies on a shared mount. */
export function isShared(realPath: string): boolean {
  return [...currentMounts().keys()].some((point) => isWithin(point, realPath))
}

function callOnPath<T>(name: CallName, path: string, ...options: readonly unknown[]): T {
  return callOn(mountOf(path), name, path, ...options)
}

function callOn<T>(mount: SharedMount | undefined, name: CallName, ...args: readonly unknown[]): T {
  return mount ? mount.call(name, ...args) : Reflect.apply(nodeFs[name], nodeFs, args)
}

function mountOf(path: string): SharedMount | undefined {
  if (currentMounts().size === 0 && mountsByDescriptor.size === 0) return undefined
  const [, descriptor] = DESCRIPTOR_PATH.exec(path) ?? []
  if (descriptor !== undefined) return mountsByDescriptor.get(Number(descriptor))
  const found = findShared(path, mounts)
  return found && mountAt(found)
}

function mountAt({ mount: id, point }: SharedPath): SharedMount {
  const mount = mountsById.get(id) ?? new SharedMount(point)
  mountsById.set(id, mount)
  return mount
}

function currentMounts(): SharedMounts {
  if (performance.now() - readAtMs >= LIST_MS) refreshMounts()
  return mounts
}

function refreshMounts(): void {
  mounts = readMounts()
  readAtMs = performance.now()
  const ids = new Set(mounts.values())
  const isOpen = new Set(mountsByDescriptor.values())
  for (const [id, mount] of mountsById) {
    if (ids.has(id) || isOpen.has(mount)) continue
    mountsById.delete(id)
    void mount.end()
  }
}

/** Mount identifiers of file systems that another computer or a program serves, by mount point. */
type SharedMounts = ReadonlyMap<string, string>

/** The types of shared file systems, as in `/proc/self/mountinfo`; calls on them may never return. */
const SHARED =
  /^(?:fuse(?:blk|\..+)?|nfs4?|cifs|smb3|smbfs|9p|virtiofs|afs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|panfs|gfs2|ocfs2|vboxsf|vmhgfs|prl_fs|autofs|davfs|ncpfs)$/

/** Returns the shared mounts. Of two mounts at one path the later one counts; `/` is left out, because every path lies on it. */
export function parseMounts(mountinfo: string): SharedMounts {
  const mounts = new Map<string, string>()
  for (const line of mountinfo.split('\n')) {
    const [id = '', , , , escaped = '', ...rest] = line.split(' ')
    const point = escaped.replaceAll(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
    mounts.delete(point)
    if (point !== '/' && SHARED.test(rest[rest.indexOf('-') + 1] ?? '')) mounts.set(point, id)
  }
  return mounts
}

function readMounts(): SharedMounts {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return new Map()
  }
}

interface SharedPath {
  readonly mount: string
  readonly point: string
  /** The path with its links up to the mount point resolved. */
  readonly path: string
}

/** Finds the shared mount that a path leads to, without a call on it. */
export function findShared(path: string, mounts: SharedMounts): SharedPath | undefined {
  if (mounts.size === 0) return undefined
  let at = ''
  let links = 0
  const names = namesOf(path)
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = dirname(at === '' ? '/' : at).replace(/\/$/, '')
      continue
    }
    const next = `${at}/${name}`
    const mount = mounts.get(next)
    if (mount !== undefined) return { mount, point: next, path: join(next, ...names) }
    const target = linkAt(next)
    if (target === undefined) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) return undefined
    names.unshift(...namesOf(target))
    if (target.startsWith('/')) at = ''
  }
  return undefined
}

/** How many links the kernel follows in a path. */
const MAX_LINKS = 40

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}
