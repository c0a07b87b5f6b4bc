import nodeFs from 'node:fs'
import { isWithin } from '../../foundation/files/paths.ts'
import type { FileSystem } from './file-system.ts'
import { type CallName, SharedMount } from './shared-mount.ts'
import { findShared, readMounts, type SharedMounts, type SharedPlace } from './shared-mounts.ts'

/** The list of mounts counts for this time, but for the first touch of a mirror, which reads it. */
const LIST_MS = 1_000

let mounts: SharedMounts = new Map()
let readAtMs = Number.NEGATIVE_INFINITY
/** By the identifier of the mount: another one at its place has another one. */
const shared = new Map<string, SharedMount>()
/** Open descriptors on shared mounts. */
const owners = new Map<number, SharedMount>()

const OF_DESCRIPTOR = /^\/proc\/self\/fd\/(\d+)(\/|$)/

/**
 * The file system for threads that must not wait without end, such as the main thread: a call on a shared mount is made by a thread of
 * that mount, and fails with ETIMEDOUT after 5 s. Other calls cost a look at the list of mounts.
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

/** Asks the mount on the way to a path, and what it may have put in its place, as automounts do. */
async function ask(path: string): Promise<void> {
  let asked: SharedMount | undefined
  for (let mount = mountOf(path); mount && mount !== asked; mount = mountOf(path)) {
    await mount.answers()
    asked = mount
    listAgain()
  }
}

/** Returns the real path as far as that needs no call on a mount that has not answered before; otherwise throws the system's error. */
export function realPathWithoutAsking(path: string): string {
  const place = findShared(path, listed())
  if (!place) return nodeFs.realpathSync(path)
  const mount = mountAt(place)
  return mount.hasAnswered ? callOn(mount, 'realpathSync', place.path) : place.path
}

/** Returns whether a directory, by its real path, lies on a shared mount or holds one: only threads walk it. */
export function mayBlock(realPath: string): boolean {
  return isShared(realPath) || boundedFileSystem.mountsIn(realPath).length > 0
}

/** Returns whether something lies on a shared mount, by its real path. */
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
