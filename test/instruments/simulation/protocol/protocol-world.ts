/** What the light hosts share: a ledger, a service that stores what it is sent however often, and what is known to be true of it. */
import type { Ledger } from '../../../../src/ledger/ledger.ts'
import { MemoryLedger } from '../../../ledger/memory-ledger.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { seededRandom } from '../../../support/random.ts'
import type { Life } from '../life.ts'
import { Violation } from '../world.ts'
import { LightHost } from './light-host.ts'
import type { ProtocolScenario } from './protocol-scenario.ts'

/** The longest time that a message to or from the ledger takes. */
const WIRE_MS = 30
/** A holder that falls silent is taken over from after two leases. */
const MAX_LEASES = 20
const DAY_MS = 24 * 3_600_000

/** What a fleet cost its ledger. */
export interface Cost {
  readonly hosts: number
  /** Contents that were sent. */
  readonly contents: number
  /** Contents that hosts had, each host counted. */
  readonly wanted: number
  calls: number
  /** Contents that were claimed and ends that were settled. */
  rows: number
}

export class ProtocolWorld {
  readonly scenario: ProtocolScenario
  readonly clock = manualClock()
  readonly hosts: readonly LightHost[]
  readonly trace: string[] = []
  readonly #ledger: MemoryLedger
  readonly #random: () => number
  /** Resources by content. */
  readonly #stored = new Map<number, string[]>()
  readonly #storedAtMs: number[] = []
  readonly #hashes = new Map<number, Buffer>()
  #longestWaitMs = 0
  #calls = 0
  #rows = 0

  constructor(scenario: ProtocolScenario) {
    this.scenario = scenario
    this.#random = seededRandom(scenario.seed * 23)
    this.#ledger = new MemoryLedger(this.clock, scenario.leaseMs)
    this.hosts = scenario.hosts.map((traits, index) => new LightHost(this, index, traits))
  }

  record(what: string): void {
    this.trace.push(`${Math.round(this.clock.monotonicMs())} ${what}`)
  }

  sha256Of(id: number): Buffer {
    const known = this.#hashes.get(id)
    if (known) return known
    const bytes = Buffer.alloc(32)
    bytes.writeUInt32BE(id)
    this.#hashes.set(id, bytes)
    return bytes
  }

  passMs(): number {
    return 1 + Math.floor(this.#random() * this.scenario.longestPassMs)
  }

  connect(host: LightHost, life: Life): Ledger {
    const pass = () => this.clock.sleep(1 + Math.floor(this.#random() * WIRE_MS))
    const ledger = this.#ledger.connect(
      async (call) => {
        await host.clock.awake()
        await pass()
        this.#calls += 1
        if (!host.hasLedger) return 'call'
        if (this.#random() >= this.scenario.lostShare) return undefined
        this.record(`${host.name} loses ${call}`)
        return this.#random() < 0.5 ? 'call' : 'answer'
      },
      {
        onAnswer: async () => {
          await pass()
          await host.clock.awake()
          if (life.isDead) await new Promise(() => {})
        },
      },
    )
    const count = (contents: readonly unknown[]) => {
      this.#rows += contents.length
      this.record(`${host.name} asks for ${contents.length}`)
    }
    return {
      ...ledger,
      claim: (session, library, contents, limits) => {
        count(contents)
        return ledger.claim(session, library, contents, limits)
      },
      settle: (session, batch, ends) => {
        count(ends)
        return ledger.settle(session, batch, ends)
      },
    }
  }

  /** Stores contents once they have left the buffers of a host that lives then; returns the resources whose answers arrive. */
  async store(host: LightHost, ids: readonly number[]): Promise<ReadonlyMap<number, string | undefined>> {
    await this.clock.sleep(this.passMs())
    const answers = ids.map((id): [number, string | undefined] => {
      const resources = this.#stored.get(id) ?? []
      const resourceId = `resource-${id}-${resources.length + 1}`
      if (resources.length > 0) this.record(`${host.name} sends ${id} AGAIN`)
      this.#stored.set(id, [...resources, resourceId])
      this.#storedAtMs.push(this.clock.monotonicMs())
      return [id, this.#random() < this.scenario.lostShare ? undefined : resourceId]
    })
    return new Map(answers)
  }

  find(id: number): string | undefined {
    return this.#stored.get(id)?.[0]
  }

  recordWait(ms: number): void {
    this.#longestWaitMs = Math.max(this.#longestWaitMs, ms)
  }

  get cost(): Cost {
    const wanted = this.scenario.hosts.reduce((sum, { count }) => sum + count, 0)
    return { hosts: this.hosts.length, contents: this.#stored.size, wanted, calls: this.#calls, rows: this.#rows }
  }

  /** Each content that some host had is stored once, and each host knows its resource (P3). */
  assertSentOnce(): void {
    for (const [id, resources] of this.#stored)
      if (resources.length > 1) throw new Violation('P3', `content ${id} was stored ${resources.length} times`)
    for (const { name, store, told } of this.hosts) {
      for (const [id, { resourceId }] of store.rows)
        if (resourceId !== this.find(id)) throw new Violation('P3', `${name} takes ${resourceId} for content ${id}`)
      if (told.length > 0) throw new Violation('P3', `${name} told of a second send that was none`)
    }
    const claims = [...this.#ledger.tables.claims.entries()].length
    if (claims > 0) throw new Violation('every claim ends', `${claims} claims are left at the ledger`)
  }

  /** In no 24 hours more arrives than the limit (P21). */
  assertDay(): void {
    const { newPerDay } = this.scenario
    if (newPerDay === null) return
    const times = this.#storedAtMs
    const at = times.findIndex((ms, nth) => (times[nth + newPerDay] ?? Number.POSITIVE_INFINITY) - ms < DAY_MS)
    if (at >= 0) throw new Violation('P21', `more than ${newPerDay} contents were sent in the day from ${times[at]}`)
  }

  /** No host waits for long for a content that others have claimed, whatever befalls these one after the other. */
  assertNobodyStarves(): void {
    const leases = this.#longestWaitMs / this.scenario.leaseMs
    if (leases > MAX_LEASES)
      throw new Violation('nobody starves', `a host waited ${leases.toFixed(1)} leases for a content`)
  }

  /** A content is claimed and settled, some of them more than once, and asked for three times in a lease while others send it. */
  assertCost(): void {
    const { rows, wanted } = this.cost
    const most = wanted * (3 + (4 * this.#longestWaitMs) / this.scenario.leaseMs)
    if (rows > most)
      throw new Violation('cost', `the ledger had ${rows} rows to look at for ${wanted} files, not ${Math.floor(most)}`)
  }

  get longestWaitMs(): number {
    return this.#longestWaitMs
  }
}
