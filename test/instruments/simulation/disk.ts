/** A disk in memory: inodes, links and descriptors as Linux has them, times of the simulated clock, events for a watcher. */
import { constants } from 'node:fs'
import type { FileStats, FileSystem } from '../../../src/local/read/file-system.ts'
import { type Common, type Directory, deviceOf, type Node, pathOf, type SimulatedFile } from './disk-nodes.ts'
import type { OddNumbers } from './odd-numbers.ts'
import { fail, isSystemError } from './system-errors.ts'

const EXT4 = 0xef53
const KINDS = { file: 0o100000, directory: 0o040000, link: 0o120000, pipe: 0o010000 } as const
const MAX_LINKS = 8

/** The part of the disk that the program sees: it reads, and every call is a step at which it may die or the world may change. */
export interface DiskView {
  /** Called before each call of the program, with the path of what it is about to open. */
  onCall(name: string, path?: string): void
}

export class SimulatedDisk {
  readonly #nowNs: () => bigint
  readonly #odd: OddNumbers | undefined
  #nextInode = 2n
  readonly #root: Directory
  /** Called with each absolute path that changed. */
  onChange: (path: string) => void = () => {}
  /** A directory that is mounted from a server which does not answer: calls on it end by their deadline. */
  #silent: { readonly root: Node; readonly answer: Promise<void> } | undefined

  constructor(nowNs: () => bigint, odd?: OddNumbers) {
    this.#nowNs = nowNs
    this.#odd = odd
    this.#root = this.#directory()
    this.#nextInode = odd?.firstInode ?? this.#nextInode
  }

  /** A view for one life of the program; its descriptors end with it. */
  view({ onCall }: DiskView): FileSystem {
    const open = new Map<number, Node>()
    let nextDescriptor = 3
    const call = <T>(name: string, work: () => T): T => {
      onCall(name)
      return work()
    }
    const heldBy = (descriptor: number): Node => open.get(descriptor) ?? fail('EBADF', String(descriptor))
    const nodeOf = (descriptor: number): Node => this.#answering(heldBy(descriptor), String(descriptor))
    /** The path by its names, also of what is opened through an open directory. */
    const named = (path: string): string => {
      const [, descriptor, below = ''] = /^\/proc\/self\/fd\/(\d+)(.*?)(?:\/\.)?$/.exec(path) ?? []
      return descriptor === undefined ? path : `${pathOf(heldBy(Number(descriptor)))}${below}`
    }
    const find = (path: string, follows: boolean) => this.#find(path, follows, open)
    const readAt = (descriptor: number, into: Uint8Array, offset: number, length: number, position: number) => {
      const file = nodeOf(descriptor)
      if (file.kind !== 'file') return fail('EISDIR', String(descriptor))
      if (file.fault !== undefined) return fail(file.fault, pathOf(file))
      const part = file.bytes.subarray(position, position + length)
      into.set(part, offset)
      return part.length
    }
    const list = (path: string): string[] => {
      const directory = find(path, true)
      if (directory.kind !== 'directory') return fail('ENOTDIR', path)
      if (!directory.isReadable) return fail('EACCES', path)
      return [...directory.entries.keys()]
    }
    function readdirSync(path: string): string[]
    function readdirSync(path: string, options: { encoding: 'buffer' }): Uint8Array[]
    function readdirSync(path: string, options?: { encoding: 'buffer' }): string[] | Uint8Array[] {
      const names = call('readdir', () => list(path))
      return options ? names.map((name) => Buffer.from(name)) : names
    }
    return {
      readdirSync,
      lstatSync: (path) => call('lstat', () => this.#stats(find(path, false))),
      statSync: (path) => call('stat', () => this.#stats(find(path, true))),
      openSync: (path, flags) => {
        onCall('open', named(path))
        const node = find(path, (flags & constants.O_NOFOLLOW) === 0)
        if (node.kind === 'link') return fail('ELOOP', path)
        if ((flags & constants.O_DIRECTORY) !== 0 && node.kind !== 'directory') return fail('ENOTDIR', path)
        if (!node.isReadable) return fail('EACCES', path)
        nextDescriptor += 1
        open.set(nextDescriptor, node)
        return nextDescriptor
      },
      fstatSync: (descriptor) => call('fstat', () => this.#stats(nodeOf(descriptor))),
      readSync: (descriptor, into, offset, length, position) =>
        call('read', () => readAt(descriptor, into, offset, length, position)),
      read: (descriptor, into, offset, length, position, done) => {
        process.nextTick(() => {
          let got = 0
          try {
            got = call('read', () => readAt(descriptor, into, offset, length, position))
          } catch (error) {
            if (!isSystemError(error)) return
            done(error, 0)
            return
          }
          done(null, got)
        })
      },
      closeSync: (descriptor) => void open.delete(descriptor),
      realpathSync: (path) => call('realpath', () => pathOf(find(path, true))),
      readlinkSync: (path) =>
        call('readlink', () => {
          const descriptor = /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1]
          if (descriptor !== undefined) return pathOf(heldBy(Number(descriptor)))
          const node = find(path, false)
          return node.kind === 'link' ? node.target : fail('EINVAL', path)
        }),
      accessSync: (path) => call('access', () => void (find(path, true).isReadable || fail('EACCES', path))),
      statfsSync: () => ({ type: EXT4, blocks: 1_000, bsize: 4_096 }),
      answers: (path) => call('answers', () => (this.#isSilent(this.#lookUp(path)) ? this.#silent?.answer : undefined)),
    }
  }

  makeDirectory(path: string): void {
    if (this.#lookUp(path) === undefined) this.#put(path, this.#directory())
  }

  /** A new file, also in place of another: like a rename over it. */
  place(path: string, bytes: Uint8Array): void {
    const file: SimulatedFile = { ...this.#common(), kind: 'file', bytes, fault: undefined }
    this.#date(file)
    this.#put(path, file)
  }

  /** A file prepared earlier takes the place of one that is there, on a disk that lets it keep its times: only the inode differs. */
  swap(path: string, bytes: Uint8Array): void {
    const before = this.#lookUp(path)
    if (before?.kind === 'file') this.#put(path, { ...before, inode: this.#common().inode, bytes })
  }

  /** Writes into the file that is there, which keeps its inode; what has it open sees the new bytes. */
  overwrite(path: string, bytes: Uint8Array): void {
    const file = this.#lookUp(path)
    if (file?.kind !== 'file') return
    file.bytes = bytes
    this.#touch(file)
    this.#date(file)
    this.onChange(path)
  }

  link(path: string, target: string): void {
    this.#put(path, { ...this.#common(), kind: 'link', target })
  }

  pipe(path: string): void {
    this.#put(path, { ...this.#common(), kind: 'pipe' })
  }

  remove(path: string): void {
    const node = this.#lookUp(path)
    if (!node?.place) return
    const { parent, name } = node.place
    parent.entries.delete(name)
    this.#touch(parent)
    node.place = undefined
    this.onChange(path)
  }

  rename(from: string, to: string): void {
    const node = this.#lookUp(from)
    if (!node || to === from || to.startsWith(`${from}/`)) return
    this.remove(from)
    node.ctimeNs = this.#nowNs()
    this.#put(to, node)
  }

  setReadable(path: string, isReadable: boolean): void {
    const node = this.#lookUp(path)
    if (!node) return
    node.isReadable = isReadable
    node.ctimeNs = this.#nowNs()
    this.onChange(path)
  }

  /** From now on reading the bytes of a file fails with `code`; undefined: no longer. */
  setFault(path: string, code: string | undefined): void {
    const node = this.#lookUp(path)
    if (node?.kind === 'file') node.fault = code
  }

  /** From now on the directory does not answer, until the returned function is called. */
  silence(path: string): () => void {
    const root = this.#lookUp(path) ?? fail('ENOENT', path)
    const { promise: answer, resolve } = Promise.withResolvers<void>()
    this.#silent = { root, answer }
    return () => {
      this.#silent = undefined
      resolve()
    }
  }

  kindOf(path: string): Node['kind'] | undefined {
    return this.#lookUp(path)?.kind
  }

  /** Another disk takes the place of this directory and all below. */
  mountAt(path: string): void {
    this.remove(path)
    this.#put(path, { ...this.#directory(), device: 2n })
  }

  /**
   * Another disk is mounted over a directory, whose descriptors stay good. The returned function mounts the directory over that in turn,
   * so that descriptors of the other disk still name the same path.
   */
  mountOver(path: string): () => void {
    const covered = this.#lookUp(path)
    if (!covered?.place) throw new Error(`Nothing is at ${path}`)
    const { parent, name } = covered.place
    parent.entries.set(name, { ...this.#directory(), device: 3n, place: covered.place })
    return () => void parent.entries.set(name, covered)
  }

  /** Every entry below a directory, by path relative to it; links are not followed. */
  list(path: string): Map<string, Node> {
    const found = new Map<string, Node>()
    const walk = (directory: Node | undefined, prefix: string) => {
      if (directory?.kind !== 'directory') return
      for (const [name, node] of directory.entries) {
        found.set(prefix + name, node)
        walk(node, `${prefix}${name}/`)
      }
    }
    walk(this.#lookUp(path), '')
    return found
  }

  #put(path: string, node: Node): void {
    const cut = path.lastIndexOf('/')
    const parent = this.#lookUp(path.slice(0, cut))
    if (parent?.kind !== 'directory') return
    const name = path.slice(cut + 1)
    const before = parent.entries.get(name)
    if (before) before.place = undefined
    parent.entries.delete(name)
    parent.entries.set(name, node)
    node.place = { parent, name }
    this.#touch(parent)
    this.onChange(path)
  }

  #date(file: SimulatedFile): void {
    file.mtimeNs = this.#odd?.nextDateNs(this.#nowNs()) ?? file.mtimeNs
  }

  #touch(node: Node): void {
    node.mtimeNs = this.#nowNs()
    node.ctimeNs = node.mtimeNs
  }

  #common(): Common {
    const nowNs = this.#nowNs()
    this.#nextInode += 1n
    return {
      inode: this.#nextInode,
      birthNs: nowNs,
      mtimeNs: nowNs,
      ctimeNs: nowNs,
      isReadable: true,
      place: undefined,
    }
  }

  #directory(): Directory {
    return { ...this.#common(), kind: 'directory', device: 1n, entries: new Map() }
  }

  #stats(node: Node): FileStats {
    const size = node.kind === 'file' ? BigInt(node.bytes.length) : 0n
    const { inode: ino, mtimeNs, ctimeNs, birthNs: birthtimeNs } = node
    return { dev: deviceOf(node), ino, mode: BigInt(KINDS[node.kind]), size, mtimeNs, ctimeNs, birthtimeNs }
  }

  #lookUp(path: string): Node | undefined {
    let node: Node | undefined = this.#root
    for (const name of path.split('/').filter(Boolean)) {
      if (node?.kind !== 'directory') return undefined
      node = node.entries.get(name)
    }
    return node
  }

  /** As the kernel walks a path: links on the way are followed, the last one if `follows`. */
  #find(path: string, follows: boolean, open: ReadonlyMap<number, Node>): Node {
    let names = path.split('/').filter(Boolean)
    let node: Node = this.#root
    const descriptor = /^\/proc\/self\/fd\/(\d+)(?:\/|$)/.exec(path)?.[1]
    if (descriptor !== undefined) {
      node = this.#answering(open.get(Number(descriptor)) ?? fail('ENOENT', path), path)
      names = names.slice(4)
    }
    for (let links = 0; names.length > 0; ) {
      const [name = '', ...rest] = names
      if (node.kind !== 'directory') return fail('ENOTDIR', path)
      if (!node.isReadable) return fail('EACCES', path)
      const next = this.#answering(name === '.' ? node : (node.entries.get(name) ?? fail('ENOENT', path)), path)
      names = rest
      if (next.kind !== 'link' || (rest.length === 0 && !follows)) {
        node = next
        continue
      }
      links += 1
      if (links > MAX_LINKS) return fail('ELOOP', path)
      node = this.#root
      names = [...next.target.split('/').filter(Boolean), ...rest]
    }
    return node
  }

  #answering = (node: Node, path: string): Node => (this.#isSilent(node) ? fail('ETIMEDOUT', path) : node)

  #isSilent(node: Node | undefined): boolean {
    for (let at = this.#silent && node; at; at = at.place?.parent) if (at === this.#silent?.root) return true
    return false
  }
}
