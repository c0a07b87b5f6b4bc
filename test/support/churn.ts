import { createHash } from 'node:crypto'
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../src/foundation/clock.ts'

/** A file of the tree that is changed: what it holds, and since when it is unchanged. */
interface Resting {
  readonly sha256: string
  /** Since it was last written or renamed itself, milliseconds of `performance.now`. */
  readonly touchedMs: number
  /** Since it or a directory above it was last renamed. */
  readonly placedMs: number
}

/**
 * Changes a directory at random like many people and programs at once, and remembers for how long each content was unchanged, so
 * that what was mirrored can be judged: everything that was unchanged for long, nothing that never was.
 */
export class Churner {
  /** The longest that each content was unchanged at one path without any rename. */
  readonly restedMs = new Map<string, number>()
  /** The longest that each content was left alone, renames of directories above it aside. */
  readonly untouchedMs = new Map<string, number>()
  changes = 0
  readonly #root: string
  readonly #outside: string
  readonly #random: Random
  readonly #label: string
  readonly #files = new Map<string, Resting>()
  readonly #directories: string[] = ['']
  #serial = 0

  /** `label` makes contents differ from those of other trees. */
  constructor(root: string, outside: string, random: Random, label = '') {
    this.#root = root
    this.#outside = outside
    this.#random = random
    this.#label = label
    mkdirSync(outside, { recursive: true })
  }

  get fileCount(): number {
    return this.#files.size
  }

  /** Distinct contents that are there now. */
  get contents(): Set<string> {
    return new Set([...this.#files.values()].map(({ sha256 }) => sha256))
  }

  /** Creates the first tree. */
  fill(files: number, directories = files / 50): void {
    while (this.#directories.length < directories) this.#makeDirectory()
    while (this.#files.size < files) this.#create()
  }

  /** One random change. */
  step(): void {
    this.changes += 1
    const dice = this.#random()
    if (dice < 0.3) this.#create()
    else if (dice < 0.45) this.#append()
    else if (dice < 0.6) this.#replace()
    else if (dice < 0.7) this.#move()
    else if (dice < 0.82) this.#remove()
    else if (dice < 0.9) this.#linkIn()
    else if (dice < 0.93) this.#makeDirectory()
    else if (dice < 0.96) this.#moveDirectory()
    else if (dice < 0.98) this.#moveIn()
    else this.#moveOut()
  }

  /** Removes at random until the tree is no larger than this; the top is one of the directories. */
  trim(files: number, directories: number): void {
    for (; this.#directories.length > directories; this.changes += 1) this.#removeLeaf()
    for (; this.#files.size > files; this.changes += 1) this.#remove()
  }

  /** Ends the account: what is there now was unchanged until now. */
  settle(): void {
    for (const path of this.#files.keys()) this.#account(path)
  }

  #create(): void {
    const path = this.#newPath()
    this.#write(path, this.#newBytes())
  }

  #append(): void {
    const path = this.#pick()
    if (path === undefined) return
    this.#account(path)
    appendFileSync(this.#at(path), `more ${this.#label}${this.#next()}\n`)
    this.#record(path)
  }

  /** As careful editors save: a temporary file takes the place. */
  #replace(): void {
    const path = this.#pick()
    if (path === undefined) return
    this.#account(path)
    const temporary = `${this.#at(path)}.tmp`
    writeFileSync(temporary, this.#newBytes())
    renameSync(temporary, this.#at(path))
    this.#record(path)
  }

  #move(): void {
    const from = this.#pick()
    if (from === undefined) return
    const to = this.#newPath()
    this.#account(from)
    renameSync(this.#at(from), this.#at(to))
    this.#files.delete(from)
    this.#record(to)
  }

  #remove(): void {
    const path = this.#pick()
    if (path === undefined) return
    this.#account(path)
    rmSync(this.#at(path))
    this.#files.delete(path)
  }

  /** A directory without directories, and the files in it. */
  #removeLeaf(): void {
    const isLeaf = (path: string) => !this.#directories.some((other) => other.startsWith(`${path}/`))
    const leaves = this.#directories.filter((path) => path !== '' && isLeaf(path))
    const path = leaves[Math.floor(this.#random() * leaves.length)]
    if (path === undefined) return
    this.#forgetFiles(path)
    rmSync(this.#at(path), { recursive: true })
    this.#forgetDirectories(path)
  }

  /** As some programs save: a temporary file gets its name by a hard link. */
  #linkIn(): void {
    const path = this.#newPath()
    const temporary = `${this.#at(path)}.tmp`
    writeFileSync(temporary, this.#newBytes())
    linkSync(temporary, this.#at(path))
    rmSync(temporary)
    this.#record(path)
  }

  #makeDirectory(): void {
    const above = this.#pickDirectory()
    if (above.split('/').length > 6) return
    const path = join(above, `d${this.#next()}`)
    mkdirSync(this.#at(path))
    this.#directories.push(path)
    for (let count = Math.floor(this.#random() * 4); count > 0; count -= 1) {
      this.#write(join(path, `f${this.#next()}.md`), this.#newBytes())
    }
  }

  #moveDirectory(): void {
    const from = this.#pickDirectory()
    const to = `m${this.#next()}`
    // Until the next scan the old names count as lost, and most of a tree must not be.
    if (from === '' || this.#below(from).length > this.#files.size / 4) return
    renameSync(this.#at(from), this.#at(to))
    this.#relocate(from, to)
  }

  #moveIn(): void {
    const name = `in${this.#next()}`
    const source = join(this.#outside, name)
    mkdirSync(join(source, 'deep'), { recursive: true })
    for (const path of ['one.md', 'deep/two.md', 'deep/three.md']) writeFileSync(join(source, path), this.#newBytes())
    renameSync(source, this.#at(name))
    this.#directories.push(name, `${name}/deep`)
    for (const path of ['one.md', 'deep/two.md', 'deep/three.md']) this.#record(`${name}/${path}`)
  }

  #moveOut(): void {
    const from = this.#pickDirectory()
    if (from === '' || this.#below(from).length > this.#files.size / 10) return
    this.#forgetFiles(from)
    renameSync(this.#at(from), join(this.#outside, `out${this.#next()}`))
    this.#forgetDirectories(from)
  }

  #relocate(from: string, to: string): void {
    const nowMs = performance.now()
    for (const path of this.#below(from)) {
      this.#account(path)
      const file = this.#files.get(path)
      this.#files.delete(path)
      if (file) this.#files.set(to + path.slice(from.length), { ...file, placedMs: nowMs })
    }
    const moved = this.#directories.filter((path) => path === from || path.startsWith(`${from}/`))
    this.#forgetDirectories(from)
    this.#directories.push(...moved.map((path) => to + path.slice(from.length)))
  }

  #forgetFiles(top: string): void {
    for (const path of this.#below(top)) {
      this.#account(path)
      this.#files.delete(path)
    }
  }

  #forgetDirectories(top: string): void {
    const kept = this.#directories.filter((path) => path !== top && !path.startsWith(`${top}/`))
    this.#directories.splice(0, this.#directories.length, ...kept)
  }

  #below(directory: string): string[] {
    return [...this.#files.keys()].filter((path) => path.startsWith(`${directory}/`))
  }

  #write(path: string, bytes: string): void {
    if (this.#files.has(path)) this.#account(path)
    writeFileSync(this.#at(path), bytes)
    this.#record(path)
  }

  #record(path: string): void {
    const nowMs = performance.now()
    this.#files.set(path, { sha256: hashOf(this.#at(path)), touchedMs: nowMs, placedMs: nowMs })
  }

  #account(path: string): void {
    const file = this.#files.get(path)
    if (!file) return
    const nowMs = performance.now()
    raise(this.restedMs, file.sha256, nowMs - Math.max(file.touchedMs, file.placedMs))
    raise(this.untouchedMs, file.sha256, nowMs - file.touchedMs)
  }

  /** Now and then bytes that are elsewhere already. */
  #newBytes(): string {
    const copied = this.#random() < 0.1 ? this.#pick() : undefined
    return copied === undefined ? `content ${this.#label}${this.#next()}\n` : readFileSync(this.#at(copied), 'utf8')
  }

  #newPath(): string {
    return join(this.#pickDirectory(), `f${this.#next()}.md`)
  }

  #pick(): string | undefined {
    const paths = [...this.#files.keys()]
    return paths[Math.floor(this.#random() * paths.length)]
  }

  #pickDirectory(): string {
    return this.#directories[Math.floor(this.#random() * this.#directories.length)] ?? ''
  }

  #next(): number {
    this.#serial += 1
    return this.#serial
  }

  #at(path: string): string {
    return join(this.#root, path)
  }
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function raise(most: Map<string, number>, key: string, value: number): void {
  most.set(key, Math.max(most.get(key) ?? 0, value))
}

/** Distinct contents of the regular files below a directory. */
export function contentsBelow(directory: string): Set<string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name))
  return new Set(files.filter((file) => statSync(file).isFile()).map(hashOf))
}

/** A directory that was mirrored while it was changed. */
export interface ChurnedTree {
  readonly root: string
  readonly churner: Churner
}

interface ChurnPace {
  /** A content that was unchanged for less must not be mirrored. */
  readonly settleMs: number
  /** A content that was unchanged for longer must have been seen. */
  readonly surelySeenMs: number
}

/** SHA-256 of contents that are not mirrored as they should be; all lists of a good daemon are empty. */
export interface ChurnAccount {
  /** More than one resource. */
  readonly twice: readonly string[]
  /** There at the end, and no resource. */
  readonly missing: readonly string[]
  /** Was unchanged for long, is gone, and no resource. */
  readonly overlooked: readonly string[]
  /** A resource, though it was never unchanged for long enough. */
  readonly fleeting: readonly string[]
}

/** Compares all resources of a library, a SHA-256 each, with what was settled in the trees that were mirrored into it. */
export function accountChurn(
  trees: readonly ChurnedTree[],
  resources: readonly string[],
  { settleMs, surelySeenMs }: ChurnPace,
): ChurnAccount {
  const stored = new Set(resources)
  const rested = trees.flatMap(({ churner }) => longerThan(churner.restedMs, surelySeenMs))
  const settled = new Set(trees.flatMap(({ churner }) => longerThan(churner.untouchedMs, settleMs * 0.9)))
  return {
    twice: resources.filter((sha256, at) => resources.indexOf(sha256) !== at),
    missing: trees.flatMap(({ root }) => [...contentsBelow(root)]).filter((sha256) => !stored.has(sha256)),
    overlooked: rested.filter((sha256) => !stored.has(sha256)),
    fleeting: [...stored].filter((sha256) => !settled.has(sha256)),
  }
}

function longerThan(times: ReadonlyMap<string, number>, leastMs: number): string[] {
  return [...times].filter(([, ms]) => ms > leastMs).map(([sha256]) => sha256)
}
