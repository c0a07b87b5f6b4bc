import nodeFs, { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWithin } from '../../foundation/files/paths.ts'
import type { FileSystem } from './file-system.ts'
import { type CallName, SharedMount } from './shared-mount.ts'

/** The list of mounts is read again after this time, and at the first access to a mirror. */
const LIST_MS = 1_000

let mounts: SharedMounts = new Map()
let readAtMs = Number.NEGATIVE_INFINITY
/** By mount identifier, since another mount may take its place. */
const shared = new Map<string, SharedMount>()
const owners = new Map<number, SharedMount>()

const OF_DESCRIPTOR = /^\/proc\/self\/fd\/(\d+)(\/|$)/

/**
 * For threads that must not wait without end: a thread of its mount makes each call, which fails with ETIMEDOUT after 5 s. Other calls
 * only consult the list of mounts.
 */
export const boundedFileSystem: Required<FileSystem> = {
  readdirSync: (path: string, ...options: unknown[]) => onPath<never>('readdirSync', path, ...options),
  lstatSync: (path, options) => onPath('lstatSync', path, options),
  statSync: (path, options) => onPath('statSync', path, options),
  realpathSync: (path) => onPath('realpathSync', path),
  readlinkSync: (path) => onPath('readlinkSync', path),
  accessSync: (path, mode) => onPath('accessSync', path, mode),
  statfsSync: (path) => onPath('statfsSync', path),
  openSync(path, flags) {
    const mount = mountOf(path)
    const descriptor: number = callOn(mount, 'openSync', path, flags)
    if (mount) owners.set(descriptor, mount)
    return descriptor
  },
  fstatSync: (descriptor, options) => callOn(owners.get(descriptor), 'fstatSync', descriptor, options),
  readSync(descriptor, into, offset, length, position) {
    const owner = owners.get(descriptor)
    if (!owner) return nodeFs.readSync(descriptor, into, offset, length, position)
    const bytes: Uint8Array = callOn(owner, 'readSync', descriptor, length, position)
    into.set(bytes, offset)
    return bytes.length
  },
  read(descriptor, into, offset, length, position, done) {
    const owner = owners.get(descriptor)
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
    const owner = owners.get(descriptor)
    if (!owner) return nodeFs.closeSync(descriptor)
    owners.delete(descriptor)
    owner.close(descriptor)
  },
  answers(path) {
    listAgain()
    return mountOf(path) && ask(path)
  },
  mountsIn(realPath) {
    listAgain()
    return [...mounts.keys()].filter((point) => point !== realPath && isWithin(realPath, point))
  },
}

/** Asks the mount on the way to a path, and an automount behind it. */
async function ask(path: string): Promise<void> {
  let asked: SharedMount | undefined
  for (let mount = mountOf(path); mount && mount !== asked; mount = mountOf(path)) {
    await mount.answers()
    asked = mount
    listAgain()
  }
}

/** Resolves links without a call on a mount that has not answered; otherwise throws the system's error. */
export function realPathWithoutAsking(path: string): string {
  const place = findShared(path, listed())
  if (!place) return nodeFs.realpathSync(path)
  const mount = mountAt(place)
  return mount.hasAnswered ? callOn(mount, 'realpathSync', place.path) : place.path
}

/** The directory lies on a shared mount or holds one, so only threads walk it. */
export function mayBlock(realPath: string): boolean {
  return isShared(realPath) || boundedFileSystem.mountsIn(realPath).length > 0
}

/** By real path. */
export function isShared(realPath: string): boolean {
  return [...listed().keys()].some((point) => isWithin(point, realPath))
}

function onPath<T>(name: CallName, path: string, ...options: readonly unknown[]): T {
  return callOn(mountOf(path), name, path, ...options)
}

function callOn<T>(mount: SharedMount | undefined, name: CallName, ...args: readonly unknown[]): T {
  return mount ? mount.call(name, ...args) : Reflect.apply(nodeFs[name], nodeFs, args)
}

function mountOf(path: string): SharedMount | undefined {
  if (listed().size === 0 && owners.size === 0) return undefined
  const [, descriptor] = OF_DESCRIPTOR.exec(path) ?? []
  if (descriptor !== undefined) return owners.get(Number(descriptor))
  const place = findShared(path, mounts)
  return place && mountAt(place)
}

function mountAt({ mount: id, point }: SharedPlace): SharedMount {
  const mount = shared.get(id) ?? new SharedMount(point)
  shared.set(id, mount)
  return mount
}

function listed(): SharedMounts {
  if (performance.now() - readAtMs >= LIST_MS) listAgain()
  return mounts
}

function listAgain(): void {
  mounts = readMounts()
  readAtMs = performance.now()
  const ids = new Set(mounts.values())
  const isOpen = new Set(owners.values())
  for (const [id, mount] of shared) {
    if (ids.has(id) || isOpen.has(mount)) continue
    shared.delete(id)
    void mount.end()
  }
}

/** Mount identifiers of file systems that another computer or a program serves, by mount point. */
type SharedMounts = ReadonlyMap<string, string>

/** Calls on these may never return. Named as in `/proc/self/mountinfo`. */
const SHARED =
  /^(?:fuse(?:blk|\..+)?|nfs4?|cifs|smb3|smbfs|9p|virtiofs|afs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|panfs|gfs2|ocfs2|vboxsf|vmhgfs|prl_fs|autofs|davfs|ncpfs)$/

/** The upper of two mounts at a place counts. The root is left out, since everything lies on it. */
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

interface SharedPlace {
  readonly mount: string
  readonly point: string
  /** With the links before the mount resolved. */
  readonly path: string
}

/** Where a path enters a shared mount, without a call on it. */
export function findShared(path: string, mounts: SharedMounts): SharedPlace | undefined {
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

/** The kernel's limit. */
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
