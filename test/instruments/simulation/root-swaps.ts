/** Something else takes the place of the mirror's directory between two steps of the program, or it does not answer; it comes back later. */
import { NAMES } from './contents.ts'
import type { SimulatedDisk } from './disk.ts'

const KINDS = ['gone', 'replaced', 'mounted', 'link', 'silent'] as const
/** Of the steps while something else stands there: the others leave it there. */
const RETURN_SHARE = 0.1

interface SwapContext {
  readonly disk: SimulatedDisk
  readonly root: string
  /** Where a link in the place of the root leads. */
  readonly outside: string
  readonly random: () => number
  readonly share: number
  /** A directory that is no mirror yet may be any. */
  readonly isPinned: () => boolean
  /** The number of uploads that were ever intended. */
  readonly countIntents: () => number
}

export class RootSwaps {
  /** The root may be swapped. */
  isAllowed = false
  /** How often it was. */
  count = 0
  /** The most commits that intended uploads while something else stood there: one may have been under way. */
  mostCommits = 0
  readonly #context: SwapContext
  readonly #aside: string
  #bringBack: (() => void) | undefined
  #intents = 0
  #commits = 0

  constructor(context: SwapContext) {
    this.#context = context
    this.#aside = `${context.root}-aside`
  }

  /** The program makes a step. */
  step(): void {
    const { random, share, isPinned } = this.#context
    if (share === 0) return
    if (this.#bringBack) {
      this.#countCommits()
      if (random() < RETURN_SHARE) this.end()
    } else if (this.isAllowed && random() < share && isPinned()) this.#swap()
  }

  /** The root is in its place again. */
  end(): void {
    this.#bringBack?.()
    this.#bringBack = undefined
  }

  #countCommits(): void {
    const intents = this.#context.countIntents()
    if (intents > this.#intents) this.#commits += 1
    this.#intents = intents
    this.mostCommits = Math.max(this.mostCommits, this.#commits)
  }

  #swap(): void {
    const { disk, root, outside, random, countIntents } = this.#context
    this.count += 1
    this.#commits = 0
    this.#intents = countIntents()
    const kind = KINDS[Math.floor(random() * KINDS.length)]
    if (kind === 'mounted') {
      const unmount = disk.mountOver(root)
      this.#fill()
      this.#bringBack = unmount
      return
    }
    if (kind === 'silent') {
      this.#bringBack = disk.silence(root)
      return
    }
    disk.rename(root, this.#aside)
    if (kind === 'replaced') {
      disk.makeDirectory(root)
      this.#fill()
    }
    if (kind === 'link') disk.link(root, outside)
    this.#bringBack = () => {
      disk.remove(root)
      disk.rename(this.#aside, root)
    }
  }

  /** Some have the names of files of the mirror. */
  #fill(): void {
    const { disk, root } = this.#context
    disk.makeDirectory(`${root}/a`)
    for (const name of NAMES) {
      disk.place(`${root}/${name}`, Buffer.from(`a private file of another directory: ${name}`))
      disk.place(`${root}/a/${name}`, Buffer.from(`a private file of another directory: a/${name}`))
    }
  }
}
