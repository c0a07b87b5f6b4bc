/** Everything outside the program in one run of the simulation, and what is known to be true of it. */
import type { EngineLimits } from '../../../src/sync/engine.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { seededRandom, seedOf } from '../../support/random.ts'
import { anotherOfSize, NAMES, sha256Of } from './contents.ts'
import { SimulatedDisk } from './disk.ts'
import { type FaultProfile, Faults } from './faults.ts'
import { HiddenDirectories } from './hidden-directories.ts'
import { Life, ProcessDied } from './life.ts'
import { type NetworkHooks, type SeenRequest, type SeenUpload, TOKEN } from './network.ts'
import { oddNumbers } from './odd-numbers.ts'
import { RootSwaps } from './root-swaps.ts'
import { type Fate, type Resource, type ServiceTraits, SimulatedService } from './service.ts'
import type { SimulatedState } from './state.ts'

export const ROOT = '/home/docs'
export const OUTSIDE = '/outside'
/** A file of the mirror that a rule leaves out: its bytes may never be sent. */
export const LEFT_OUT = '.env'

/** A promise that was broken; the run ends with it. */
export class Violation extends Error {
  readonly promise: string

  constructor(promise: string, what: string) {
    super(`${promise}: ${what}`)
    this.name = 'Violation'
    this.promise = promise
  }
}

/** An upload from its first byte to its end. */
interface Transfer {
  readonly life: Life
  readonly fileName: string
  seen: SeenUpload | undefined
  isOver: boolean
}

export interface WorldTraits {
  readonly limits: EngineLimits
  readonly service: Pick<ServiceTraits, 'hasDuplicateRule' | 'hasDirectoryField' | 'pageSize'>
  readonly faults: FaultProfile
  /** Chance that a call of the program finds the disk changed under it. */
  readonly raceShare: number
  /** Chance that a link stands where the program opens a file or directory. */
  readonly linkShare: number
  /** Chance that a step of the program finds something else in the place of the mirror's directory. */
  readonly swapShare: number
  /** Chance that a file that was written gets an odd date; above 0 the disk has odd inodes as well. */
  readonly oddShare: number
}

/** Steps at which the disk does not change under the program. */
const STEPS_WITHOUT_RACE: readonly string[] = ['network', 'commit', 'written']

/** No run of the program needs more wakes, or more time. */
const MAX_WAKES = 60_000
const MAX_MS = 10 * 24 * 3_600_000

export class World implements Disposable {
  readonly seed: number
  readonly traits: WorldTraits
  readonly clock: ManualClock = manualClock()
  readonly random: () => number
  readonly disk: SimulatedDisk
  readonly faults: Faults
  readonly service: SimulatedService
  readonly state: SimulatedState
  readonly hidden: HiddenDirectories
  readonly swaps: RootSwaps
  readonly uploads: SeenUpload[] = []
  /** Those of the next life. */
  limits: EngineLimits
  /** What happened, for a reader and for comparing two runs of one seed. */
  readonly trace: string[] = []
  /** Called at each step of the program, when it may find the disk changed. */
  race: () => void = () => {}
  /** Called when the program is about to open a path. */
  onOpen: (path: string) => void = () => {}
  life = new Life(Number.POSITIVE_INFINITY, () => {})
  /** Set while no fault happens and the disk does not change under the program: hashes of contents whose ingestion takes long. */
  calm: { readonly slow: ReadonlySet<string> } | undefined
  /** In continuous mode: since when, and how long a file must stay unchanged. */
  watching: { readonly sinceMs: number; readonly settleMs: number } | undefined
  /** The wall clock was set; pauses by it may be shorter. */
  hasJumped = false
  /** When the store was lost. */
  readonly lossesMs: number[] = []
  /** What somebody had removed, and nobody has asked for again: `sha256 mime`. */
  withheld: ReadonlySet<string> = new Set()
  /** By `sha256 mime`: how many uploads there had been when somebody had its resource removed. */
  readonly removedAfter = new Map<string, number>()
  /** By hash: when a file first had this content. */
  readonly #contents = new Map<string, number>()
  readonly #directories = new Set<string>()
  readonly #reported = new Map<string, { readonly path: string; readonly atMs: number }>()
  readonly #transfers: Transfer[] = []

  constructor(seed: number, traits: WorldTraits, state: SimulatedState) {
    this.seed = seed
    this.traits = traits
    this.limits = traits.limits
    this.random = seededRandom(seed)
    this.state = state
    this.disk = new SimulatedDisk(() => BigInt(this.clock.nowMs()) * 1_000_000n, oddNumbers(seed, traits.oddShare))
    this.hidden = new HiddenDirectories(ROOT, this.disk, state)
    this.swaps = new RootSwaps({
      disk: this.disk,
      root: ROOT,
      outside: OUTSIDE,
      random: seededRandom(seed * 3_266_489_917),
      share: traits.swapShare,
      isPinned: () => state.queries.mirrors.list().length > 0,
      countIntents: () => state.judging.countAllIntents(),
    })
    this.faults = new Faults(seed, traits.faults)
    const nowMs = () => this.clock.monotonicMs()
    const onOrphan = (path: string) => {
      throw new Violation('parents first', `"${path}" was to be created before the directory above it`)
    }
    this.service = new SimulatedService({
      ...traits.service,
      nowMs,
      onOrphan,
      onDelete: (resource) => this.#recordDeletion(resource),
      fateOf: (sha256) => this.#fateOf(sha256),
    })
    for (const path of ['/home', ROOT, OUTSIDE, `${OUTSIDE}/b`]) this.disk.makeDirectory(path)
    // Named as those of the mirror, so that a link in the place of a directory leads to them.
    for (const name of ['0.md', ...NAMES, ...NAMES.map((inner) => `b/${inner}`)]) {
      this.disk.place(`${OUTSIDE}/${name}`, Buffer.from(`a secret that lies outside: ${name}`))
    }
    state.begin()
  }

  [Symbol.dispose](): void {
    this.state.end()
  }

  record(what: string): void {
    this.trace.push(`${Math.round(this.clock.monotonicMs())} ${what}`)
  }

  /** Puts a file below the root; its content may be uploaded from now on. */
  put(path: string, bytes: Uint8Array, inPlace = false): void {
    this.#recordContent(bytes)
    const whole = `${ROOT}/${path}`
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) this.makeDirectory(path.slice(0, cut))
    if (inPlace) this.disk.overwrite(whole, bytes)
    else this.disk.place(whole, bytes)
  }

  /** Other bytes of the same size for some file: only its inode differs (`swap`), or, if it was just written, nothing at all. */
  alter(how: 'swap' | 'overwrite'): void {
    const files = [...this.disk.list(ROOT)].flatMap(([path, node]) => (node.kind === 'file' ? [{ path, node }] : []))
    const { path, node } = files[Math.floor(this.random() * files.length)] ?? {}
    const bytes = node && anotherOfSize(node.bytes)
    if (bytes === undefined) return
    // What takes the place of a file with its times looks as if it had stayed unchanged.
    if (how === 'overwrite') this.#recordContent(bytes)
    else this.#contents.set(sha256Of(bytes), Number.NEGATIVE_INFINITY)
    this.disk[how](`${ROOT}/${path}`, bytes)
  }

  #recordContent(bytes: Uint8Array): void {
    const sha256 = sha256Of(bytes)
    this.#contents.set(sha256, this.#contents.get(sha256) ?? this.clock.monotonicMs())
  }

  makeDirectory(path: string): void {
    this.#directories.add(path)
    this.disk.makeDirectory(`${ROOT}/${path}`)
  }

  recordDirectory(path: string): void {
    this.#directories.add(path)
  }

  /** Starts a life that ends by itself at the step `diesAt`. */
  beginLife(diesAt: number): Life {
    this.life = new Life(diesAt, (what) => {
      this.swaps.step()
      if (!STEPS_WITHOUT_RACE.includes(what) && this.random() < this.traits.raceShare) this.race()
    })
    return this.life
  }

  /** Lets time pass until `work` has ended or its life has; gives undefined for one that died. */
  async drive<T>(life: Life, work: Promise<T>, untilMs = Number.POSITIVE_INFINITY): Promise<T | undefined> {
    const end: { isOver: boolean; value?: T; error?: unknown } = { isOver: false }
    work.then(
      (value) => Object.assign(end, { isOver: true, value }),
      (error: unknown) => Object.assign(end, { isOver: true, error }),
    )
    const startMs = this.clock.monotonicMs()
    await this.clock.settle()
    for (let wakes = 0; !end.isOver && !life.isDead && this.clock.monotonicMs() < untilMs; wakes += 1) {
      const [failure] = life.failures
      if (failure) throw asViolation(failure)
      const goesOn = await this.clock.advanceToNext()
      if (end.isOver || life.isDead) break
      if (!goesOn) throw new Violation('no hang', 'the program waits for something that never comes')
      if (wakes > MAX_WAKES) throw new Violation('no hang', 'the program does not come to an end')
      if (this.clock.monotonicMs() - startMs > MAX_MS) throw new Violation('no hang', 'ten days have passed')
    }
    this.swaps.end()
    if (life.isDead) return undefined
    if ('error' in end && !(end.error instanceof ProcessDied)) throw end.error
    const [failure] = life.failures
    if (failure) throw asViolation(failure)
    return end.value
  }

  /** The hooks of the network, which see every byte that leaves. */
  networkHooks(): NetworkHooks {
    return {
      clock: this.clock,
      random: this.random,
      faults: this.faults,
      service: this.service,
      onRequest: (request) => this.#recordRequest(request),
      onFault: (fault) => this.record(`fault ${fault.kind}${fault.kind === 'answer' ? ` ${fault.reply.status}` : ''}`),
      onUploadBegun: (fileName) => this.#recordUploadBegun(fileName),
      onUploadEnded: (upload) => this.#recordUploadEnded(upload),
      onUploadOver: (upload) => this.#recordUploadOver(upload),
    }
  }

  /** The program has reported that a file is sent, so the store and the service must have it from now on (P1). */
  recordReported(path: string, resourceId: string): void {
    this.record(`reported ${path} ${resourceId}`)
    if (!this.#reported.has(resourceId)) this.#reported.set(resourceId, { path, atMs: this.clock.monotonicMs() })
  }

  /** Returns whether the program had reported this resource by then. */
  wasReportedBefore(resourceId: string, timeMs: number): boolean {
    return (this.#reported.get(resourceId)?.atMs ?? Number.POSITIVE_INFINITY) < timeMs
  }

  /** No run may rely on it from before it goes. */
  #recordDeletion({ id, sha256, mime }: Resource): void {
    const holder = this.state.judging.findHolder(id)
    if (holder !== undefined) throw new Violation('P7', `the document of "${holder}" is removed, and counts as stored`)
    this.#reported.delete(id)
    this.removedAfter.set(`${sha256} ${mime}`, this.uploads.length)
  }

  /** Somebody has tidied, or died over it. */
  recordTidied(): void {
    this.withheld = new Set(this.state.judging.listWithheld().map(({ key }) => key))
    for (const { id, key } of this.state.judging.listRemovals()) {
      this.#reported.delete(id)
      this.removedAfter.set(key, this.uploads.length)
    }
  }

  /** The store is gone, and all that it knew. */
  loseStore(): void {
    this.withheld = new Set()
    this.state.end()
    this.state.begin()
    this.hidden.forget()
    this.#reported.clear()
    this.lossesMs.push(this.clock.monotonicMs())
  }

  /** What must hold at every moment. */
  assertAlways(): void {
    for (const [resourceId, { path }] of this.#reported) {
      if (!this.state.judging.holdsResource(resourceId))
        throw new Violation('P1', `the receipt of "${path}" (${resourceId}) is lost`)
      if (!this.service.find(resourceId))
        throw new Violation('P1', `"${path}" was reported as ${resourceId}, which is not there`)
    }
    if (this.swaps.mostCommits > 1)
      throw new Violation('P12', 'uploads were intended again and again although the root was not in its place')
    // In a race it may have been gone before its directory could no longer be read.
    const forgotten = this.mayRace ? undefined : this.hidden.findForgotten()
    if (forgotten !== undefined)
      throw new Violation('P11', `"${forgotten}" is no longer known, though nobody could see that it is gone`)
    for (const directory of this.service.directories.keys()) {
      if (directory === '/' || directory === '/.inbox' || directory === '/Docs') continue
      if (!this.#directories.has(directory.slice('/Docs/'.length))) {
        throw new Violation('P9', `the directory "${directory}" was created, which the mirror never had`)
      }
    }
  }

  /** The disk may change between two calls of the program. */
  get mayRace(): boolean {
    return this.traits.raceShare + this.traits.linkShare > 0
  }

  #fateOf(sha256: string): Fate {
    const { lateShare, badShare } = this.faults.profile
    const random = seededRandom(this.seed ^ seedOf(`fate ${sha256}`))
    const nowMs = this.clock.monotonicMs()
    if (this.calm) {
      const takesMs = this.calm.slow.has(sha256) ? SLOW_MS : Math.floor(random() * INGESTION_MS)
      return { listedMs: 0, finalMs: nowMs + takesMs, finalStatus: 'completed' }
    }
    const listedMs = random() < lateShare ? nowMs + Math.floor(random() * 3_600_000) : 0
    const finalMs = nowMs + Math.floor(random() < 0.95 ? random() * 30_000 : random() ** 3 * 30 * 3_600_000)
    const isBad = random() < badShare
    const finalStatus = isBad ? pick(BAD_ENDS, random()) : random() < 0.2 ? 'completed_with_warnings' : 'completed'
    return { listedMs, finalMs, finalStatus }
  }

  #recordRequest({ method, path, headers, notBeforeMs }: SeenRequest): void {
    this.record(`${method} ${path}`)
    const earlyMs = notBeforeMs - this.clock.monotonicMs()
    if (earlyMs > 0) throw new Violation('P21', `${method} ${path} came ${earlyMs} ms before Retry-After was over`)
    if (headers.get('authorization') !== `Bearer ${TOKEN}`)
      throw new Violation('P22', 'a request without the credential')
    for (const [name, value] of headers) {
      if (name !== 'authorization' && value.includes(TOKEN)) throw new Violation('P22', `the credential in ${name}`)
    }
    if (path.includes(TOKEN)) throw new Violation('P22', 'the credential in a path')
  }

  #recordUploadBegun(fileName: string): void {
    if (this.state.judging.countIntents(fileName) === 0)
      throw new Violation('P2', `"${fileName}" is on its way without an intent`)
    this.#transfers.push({ life: this.life, fileName, seen: undefined, isOver: false })
  }

  #recordUploadEnded(upload: SeenUpload): void {
    this.record(`uploaded ${upload.fileName} ${upload.sha256.slice(0, 8)} ${upload.isStored ? 'stored' : 'not stored'}`)
    this.uploads.push(upload)
    this.#assertOwnBytes(upload)
    if (this.withheld.has(`${upload.sha256} ${upload.mime}`))
      throw new Violation('P13', `"${upload.fileName}" was sent although its document was removed`)
    const restMs = this.state.judging.quarantineOf(upload.sha256, upload.mime) - this.clock.nowMs()
    if (restMs > 0 && !this.hasJumped)
      throw new Violation('P4', `"${upload.fileName}" was sent ${restMs} ms before its pause was over`)
    const own = this.#transfers.findLast(
      ({ fileName, seen, isOver }) => fileName === upload.fileName && !seen && !isOver,
    )
    const twin = this.#transfers.find(({ seen, isOver, life }) => {
      return !isOver && !life.isDead && seen?.sha256 === upload.sha256 && seen.mime === upload.mime
    })
    if (twin && this.traits.limits.transfers > 0) {
      throw new Violation(
        'P3',
        `"${upload.fileName}" and "${twin.fileName}" were sent at the same time with the same content`,
      )
    }
    if (own) own.seen = upload
  }

  #assertOwnBytes({ fileName, sha256 }: SeenUpload): void {
    const writtenMs = this.#contents.get(sha256)
    if (writtenMs === undefined)
      throw new Violation('P9, P10', `"${fileName}" was sent with bytes that no file of the mirror ever had`)
    const { sinceMs = 0, settleMs = 0 } = this.watching ?? {}
    const restedMs = this.clock.monotonicMs() - writtenMs
    if (writtenMs >= sinceMs && restedMs < settleMs && !this.hasJumped && (!this.mayRace || this.calm))
      throw new Violation('settled', `"${fileName}" was sent ${restedMs} ms after it was written`)
  }

  #recordUploadOver(upload: SeenUpload): void {
    for (const transfer of this.#transfers) if (transfer.seen === upload) transfer.isOver = true
  }
}

/** An ingestion that is overdue long before it ends, with any settings. */
const SLOW_MS = 30 * 3_600_000
/** The longest ingestion in peace, but for the slow ones. */
export const INGESTION_MS = 10_000

const BAD_ENDS: readonly unknown[] = ['partial', 'failed', 'done', null, 42, { toString: 'x' }]

function pick<T>(values: readonly T[], at: number): T | undefined {
  return values[Math.floor(at * values.length)]
}

/** Makes a violation of what nobody caught, since it would end a real process. */
function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error
  return new Violation('no crash', error instanceof Error ? (error.stack ?? error.message) : String(error))
}
