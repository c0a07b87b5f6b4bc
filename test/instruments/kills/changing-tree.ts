import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../src/foundation/clock.ts'
import { Churner, contentsBelow } from '../../support/churn.ts'

const FILES = 12
const MAX_FILES = 40
const LARGE_BYTES = 300_000

/** A small directory that is changed between and during runs. */
export class ChangingTree {
  readonly root: string
  /** SHA-256 of everything it ever held. */
  readonly held = new Set<string>()
  readonly #churner: Churner
  readonly #random: Random
  #large = 0
  #added = 0

  constructor(root: string, random: Random) {
    this.root = root
    this.#random = random
    mkdirSync(root, { recursive: true })
    this.#churner = new Churner(root, `${root} elsewhere`, random)
    this.#churner.fill(FILES, 4)
    this.change(1)
  }

  /** Some random changes; now and then a file that goes out in several pieces. */
  change(steps: number): void {
    for (let left = steps; left > 0; left -= 1) {
      this.#churner.step()
      this.#remember()
    }
    this.#churner.trim(MAX_FILES, MAX_FILES / 4)
    if (this.#random() < 0.3) this.#writeLarge()
    this.#remember()
  }

  /** Adds a directory with a new file: one to create, and one to send. */
  addDirectory(): void {
    this.#added += 1
    const directory = join(this.root, `added-${this.#added}`)
    mkdirSync(directory)
    writeFileSync(join(directory, 'new.md'), `added ${this.#added}\n`)
    this.#remember()
  }

  /** SHA-256 of what it holds now. */
  contents(): Set<string> {
    return contentsBelow(this.root)
  }

  /** Directories below it, relative. */
  directories(): string[] {
    return readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
  }

  /** Everything about it that a reader must leave alone: contents, kinds, times, inodes, links, modes. */
  fingerprint(): string {
    const names = readdirSync(this.root, { recursive: true, encoding: 'utf8' }).sort()
    const lines = ['', ...names].map((name) => {
      const { ino, mode, nlink, size, mtimeNs, ctimeNs } = lstatSync(join(this.root, name), { bigint: true })
      return [name, ino, mode, nlink, size, mtimeNs, ctimeNs].join(' ')
    })
    return [...lines, ...[...this.contents()].sort()].join('\n')
  }

  #writeLarge(): void {
    this.#large += 1
    const line = `large ${this.#large} ${this.#random()}\n`
    writeFileSync(join(this.root, `large-${this.#large % 3}.md`), line.repeat(LARGE_BYTES / line.length))
  }

  #remember(): void {
    for (const sha256 of this.contents()) this.held.add(sha256)
  }
}
