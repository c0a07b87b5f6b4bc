import { InterruptedError, TemporaryError } from '../../../../src/foundation/errors.ts'
import { type Logger, silentLogger } from '../../../../src/foundation/logger.ts'
import { MAX_IN_A_CALL } from '../../../../src/ledger/ledger.ts'
import { ClosedFenceError } from '../../../../src/remote/service-client.ts'
import { Membership } from '../../../../src/sync/fleet/membership.ts'
import { seededRandom } from '../../../support/random.ts'
import { HostClock } from '../fleet/host-clock.ts'
import { Life } from '../life.ts'
import { clockOf } from '../program.ts'
import { LightStore } from './light-store.ts'
import { LIBRARY, type LightTraits } from './protocol-scenario.ts'
import type { ProtocolWorld } from './protocol-world.ts'

/** Uploads at the same time. */
const TRANSFERS = 25
const RETRY = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 300_000 }
/** After a run that ended without all contents. */
const NEXT_RUN_MS = 60_000

/** A host without disk, scan and requests: it claims, sends and settles contents by the rules and the code of the program. */
export class LightHost {
  readonly name: string
  readonly clock: HostClock
  readonly store: LightStore
  /** Its calls of the ledger arrive. */
  hasLedger = true
  /** Resources that it said were second ones of their contents. */
  readonly told: string[] = []
  readonly #world: ProtocolWorld
  readonly #traits: LightTraits
  readonly #random: () => number
  /** Since when it waits for contents that other hosts send. */
  readonly #waitingSince = new Map<number, number>()
  #parts = 0

  constructor(world: ProtocolWorld, index: number, traits: LightTraits) {
    const { seed, contents } = world.scenario
    this.name = `host-${index}`
    this.#world = world
    this.#traits = traits
    this.#random = seededRandom(seed * 977 + index)
    this.clock = new HostClock(world.clock, { rate: traits.rate, wrongMs: 0 })
    const ids = Array.from({ length: traits.count }, (_, nth) => ((traits.firstContent + nth) % contents) + 1)
    this.store = new LightStore(new Map(ids.map((id) => [id, world.sha256Of(id)])))
  }

  get #open(): number[] {
    return [...this.store.rows].flatMap(([id, { state }]) => (state === 'stored' ? [] : [id]))
  }

  /** Runs the program again and again until all its contents are stored, and the ledger knows it. */
  async work(): Promise<void> {
    await this.#world.clock.sleep(this.#traits.startsAtMs)
    while (this.#open.length > 0 || !this.store.settlements.isEmpty()) await this.clock.sleep(await this.#live())
  }

  /** One life of the program; returns after which time the next one begins. */
  async #live(): Promise<number> {
    const { promise: died, resolve: die } = Promise.withResolvers<number>()
    const life = new Life(Number.POSITIVE_INFINITY, () => {})
    const ends = this.#run(life, die)
    ends.catch((error: unknown) => life.onFailure(error))
    const pauseMs = await Promise.race([ends, died])
    life.isDead = true
    return pauseMs
  }

  async #run(life: Life, die: (nextMs: number) => void): Promise<number> {
    for (const row of this.store.rows.values()) if (row.state === 'sending') row.state = 'doubt'
    const world = this.#world
    const { newPerDay } = world.scenario
    await using fleet = new Membership(
      {
        store: this.store,
        clock: clockOf(this.clock, life),
        random: this.#random,
        logger: this.#logger(),
        signal: new AbortController().signal,
      },
      {
        connect: async () => world.connect(this, life),
        ...{ name: this.name, version: '1.0.0', limits: { newPerDay }, bootMs: this.clock.bootMs, retry: RETRY },
      },
    )
    const onPart = () => this.#onPart(life, die)
    try {
      const requiredSearches = await fleet.join()
      for (let open = this.#open; open.length > 0; open = this.#open) {
        const pass = { mine: 0, elsewhere: 0, freesAt: 0 }
        for (let start = 0; start < open.length; start += MAX_IN_A_CALL) {
          const mine = await this.#claim(fleet, open.slice(start, start + MAX_IN_A_CALL), requiredSearches, pass)
          for (let at = 0; at < mine.length; at += TRANSFERS)
            await this.#send(fleet, mine.slice(at, at + TRANSFERS), onPart)
        }
        if (pass.mine > 0) continue
        if (pass.elsewhere === 0 && pass.freesAt > 0) return Math.max(NEXT_RUN_MS, pass.freesAt - world.clock.nowMs())
        if (pass.elsewhere > 0) await this.clock.sleep(fleet.askAgainMs)
      }
    } catch (error) {
      if (!(error instanceof TemporaryError || error instanceof InterruptedError)) throw error
      world.record(`${this.name} ends: ${error.message}`)
    }
    return NEXT_RUN_MS
  }

  /** Claims contents, and searches for those that may have arrived; returns what is this host's to send. */
  async #claim(
    fleet: Membership,
    ids: readonly number[],
    requiredSearches: number,
    pass: { mine: number; elsewhere: number; freesAt: number },
  ): Promise<number[]> {
    const wanted = ids.map((contentId) => ({
      contentId,
      sha256: this.store.get(contentId).sha256,
      ...{ mime: 'text/plain', sizeBytes: 1, place: { path: this.name, remoteDirectory: '/' } },
    }))
    const results = await fleet.claim(LIBRARY, wanted, { requiredSearches })
    const [mine, doubtful]: [number[], number[]] = [[], []]
    for (const [nth, id] of ids.entries()) {
      const result = results[nth]
      const row = this.store.get(id)
      if (result?.kind !== 'elsewhere') this.#stopWaiting(id)
      if (result?.kind === 'doubtful' || (result?.kind === 'mine' && row.state === 'doubt')) doubtful.push(id)
      else if (result?.kind === 'mine') mine.push(id)
      else if (result?.kind === 'stored') Object.assign(row, { state: 'stored', resourceId: result.resourceId })
      else if (result?.kind === 'held') pass.freesAt = result.freesAt ?? Number.POSITIVE_INFINITY
      else {
        pass.elsewhere += 1
        if (!this.#waitingSince.has(id)) this.#waitingSince.set(id, this.#world.clock.monotonicMs())
      }
    }
    pass.mine += mine.length + doubtful.length
    return [...mine, ...(doubtful.length > 0 ? await this.#search(fleet, doubtful) : [])]
  }

  async #search(fleet: Membership, ids: readonly number[]): Promise<number[]> {
    await this.clock.sleep(this.#world.passMs())
    const absent: number[] = []
    for (const id of ids) {
      const resourceId = this.#world.find(id)
      if (resourceId === undefined) absent.push(id)
      const row = this.store.get(id)
      Object.assign(row, resourceId === undefined ? { state: 'new' } : { state: 'stored', resourceId })
      fleet.recordEnd(id, resourceId === undefined ? 'absent' : 'adopted')
    }
    return absent
  }

  async #send(fleet: Membership, ids: readonly number[], onPart: () => Promise<void>): Promise<void> {
    const world = this.#world
    const setState = (id: number, state: 'new' | 'sending' | 'doubt') => {
      this.store.get(id).state = state
    }
    for (const id of ids) setState(id, 'sending')
    await this.clock.sleep(world.passMs())
    await onPart()
    for (const id of ids) await awaitFence(fleet, id)
    // What leaves now was surely this host's in this turn.
    const sent = ids.filter((id) => fleet.fence(id).isOpen())
    for (const id of ids.filter((one) => !sent.includes(one))) {
      setState(id, 'new')
      fleet.forgetClaim(id)
    }
    const answers = await world.store(this, sent)
    await onPart()
    for (const [id, resourceId] of answers) {
      if (resourceId === undefined) setState(id, 'doubt')
      else Object.assign(this.store.get(id), { state: 'stored', resourceId })
      fleet.recordEnd(id, resourceId === undefined ? 'doubt' : 'created')
    }
  }

  #stopWaiting(id: number): void {
    const sinceMs = this.#waitingSince.get(id)
    if (sinceMs === undefined) return
    this.#waitingSince.delete(id)
    this.#world.recordWait(this.#world.clock.monotonicMs() - sinceMs)
  }

  /** What is to befall it after this part does. */
  async #onPart(life: Life, die: (nextMs: number) => void): Promise<void> {
    this.#parts += 1
    for (const { kind, ms, afterParts } of this.#traits.mishaps) {
      if (afterParts !== this.#parts) continue
      this.#world.record(`${this.name} ${kind} ${ms}`)
      if (kind === 'pause' || kind === 'sleep') this.clock.stop(ms, kind === 'sleep')
      else if (kind === 'no-ledger') {
        this.hasLedger = false
        this.#world.clock.startTimer(ms, () => (this.hasLedger = true))
      } else {
        life.isDead = true
        die(ms)
      }
    }
    await this.clock.awake()
    if (life.isDead) await new Promise(() => {})
  }

  #logger(): Logger {
    const warn: Logger['warn'] = (message, fields) => {
      this.#world.record(`${this.name} warns ${message} ${fields?.reason ?? ''}`)
      if (message === 'a content was sent twice, by two hosts') this.told.push(String(fields?.resourceId))
    }
    return { ...silentLogger, warn }
  }
}

async function awaitFence(fleet: Membership, id: number): Promise<void> {
  const fence = fleet.fence(id)
  try {
    if (!fence.isOpen()) await fence.waitUntilOpen()
  } catch (error) {
    if (!(error instanceof ClosedFenceError)) throw error
  }
}
