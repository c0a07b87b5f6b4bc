/** What the hosts of a simulated fleet share, and what is known to be true of it. */
import type { Ledger } from '../../../../src/ledger/ledger.ts'
import { MemoryLedger } from '../../../ledger/memory-ledger.ts'
import { byContent, contentOf, type Loss } from '../../../ledger/memory-rows.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { seededRandom } from '../../../support/random.ts'
import type { Life } from '../life.ts'
import type { SeenUpload } from '../network.ts'
import { SimulatedService } from '../service.ts'
import type { SimulatedState } from '../state.ts'
import { Violation } from '../world.ts'
import { FleetHost } from './fleet-host.ts'
import type { FleetEvent, FleetScenario, Harm } from './fleet-scenario.ts'

/** The longest time that a message to or from the ledger takes. */
const WIRE_MS = 30
/** The longest time that a call waits for locks. */
const MAX_LOCKED_MS = 5_000

export class FleetWorld implements Disposable {
  readonly scenario: FleetScenario
  readonly clock = manualClock()
  readonly service: SimulatedService
  readonly ledger: MemoryLedger
  readonly hosts: readonly FleetHost[]
  readonly trace: string[] = []
  /** Nothing bad happens any more. */
  isConverging = false
  readonly #random: () => number
  readonly #stored: { readonly key: string; readonly upload: SeenUpload }[] = []
  readonly #reported: { readonly host: FleetHost; readonly resourceId: string }[] = []
  #isLedgerAway = false
  #hasFailedOver = false
  /** Contents of which a failover has lost a claim, or how it ended. */
  readonly #lost = new Set<string>()
  #violation: Violation | undefined

  constructor(scenario: FleetScenario, states: readonly SimulatedState[]) {
    this.scenario = scenario
    this.#random = seededRandom(scenario.seed * 17)
    // The hosts alone must know when one is silent: the clock of a ledger may be wrong.
    this.ledger = new MemoryLedger(this.clock, scenario.leaseMs, { agreesToClose: false })
    const { hasDirectoryField, pageSize } = scenario
    this.service = new SimulatedService({
      hasDuplicateRule: false,
      hasDirectoryField,
      pageSize,
      nowMs: () => this.clock.monotonicMs(),
      onOrphan: (path) => this.break(new Violation('parents first', `"${path}" was to be created before its parent`)),
      fateOf: () => ({ listedMs: 0, finalMs: this.clock.monotonicMs() + 2_000, finalStatus: 'completed' }),
    })
    this.hosts = scenario.hosts.flatMap((traits, index) => {
      const state = states[index]
      return state ? [new FleetHost(this, index, { state, traits })] : []
    })
  }

  [Symbol.dispose](): void {
    for (const { state } of this.hosts) state.end()
  }

  record(what: string): void {
    this.trace.push(`${Math.round(this.clock.monotonicMs())} ${what}`)
  }

  break(violation: Violation): void {
    this.#violation ??= violation
  }

  /** Throws what was broken, also where only a program would have caught it. */
  readonly throwIfFailed = (): void => {
    if (this.#violation) throw this.#violation
    for (const { name, life } of this.hosts) {
      const [failure] = life.failures
      if (failure instanceof Violation) throw failure
      if (failure) {
        const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)
        throw new Violation('no crash', `${name}: ${text}`)
      }
    }
  }

  /** The ledger as one life of the program has it. */
  connect(host: FleetHost, life: Life): Ledger {
    const { lateMs } = this.scenario
    const pass = () => this.clock.sleep(1 + Math.floor(this.#random() * WIRE_MS))
    const isCut = () => !host.hasLedger || this.#isLedgerAway
    const loseSome = (): Loss | undefined => {
      if (this.isConverging || this.#random() >= this.scenario.lostCalls) return undefined
      return this.#random() < 0.5 ? 'call' : 'answer'
    }
    const answer = async (call: string) => {
      host.onCarriedOut(call)
      await pass()
      if (lateMs > 0 && !this.isConverging && this.#random() < 0.1) await this.clock.sleep(this.#random() * lateMs)
      await host.clock.awake()
      if (life.isDead) await new Promise(() => {})
    }
    return this.ledger.connect(
      async (call) => {
        life.step('ledger')
        await host.clock.awake()
        const wasCut = isCut()
        await pass()
        const loss: Loss | undefined = wasCut || isCut() ? 'call' : loseSome()
        host.record(`asks ${call}${loss ? `, lost ${loss}` : ''}`)
        return loss
      },
      // Claims may wait for locks.
      { onLooked: () => this.clock.sleep(this.#random() ** 8 * MAX_LOCKED_MS), onAnswer: answer },
    )
  }

  befall(host: FleetHost, harm: Harm): void {
    if (harm.kind === 'no-ledger' || harm.kind === 'no-service') this.#cutOff(host, harm.kind, harm.ms)
    else if (harm.kind === 'crash') this.ledger.crash()
    else if (harm.kind === 'failover') this.#failOver(harm.commits)
  }

  #failOver(commits: number): void {
    const rowsOf = () => {
      const { claims, contents } = this.ledger.tables
      return [new Map(claims.entries()), new Map(contents.entries())] as const
    }
    const before = rowsOf()
    this.ledger.loseCommits(commits)
    rowsOf().forEach((after, nth) => {
      const keys = new Set([...(before[nth]?.keys() ?? []), ...after.keys()])
      for (const key of keys) if (before[nth]?.get(key) !== after.get(key)) this.#lost.add(contentOf(key))
    })
    this.#hasFailedOver = true
  }

  #cutOff(host: FleetHost, kind: 'no-ledger' | 'no-service', forMs: number): void {
    const set = (isThere: boolean) => {
      if (kind === 'no-ledger') host.hasLedger = isThere
      else host.faults.hasService = isThere
    }
    set(false)
    this.clock.startTimer(forMs, () => set(true))
  }

  startEvent(event: FleetEvent): void {
    const { clock, hosts } = this
    clock.startTimer(event.atMs, () => {
      if (this.isConverging) return
      this.record(JSON.stringify(event))
      if (event.kind === 'ledger-away') {
        this.#isLedgerAway = true
        clock.startTimer(event.forMs, () => (this.#isLedgerAway = false))
        return
      }
      const host = hosts[event.host]
      if (host) this.#cutOff(host, event.kind, event.forMs)
    })
  }

  /** Ends all that events began. */
  heal(): void {
    this.isConverging = true
    this.#isLedgerAway = false
    for (const host of this.hosts) {
      host.hasLedger = true
      host.faults.hasService = true
      host.faults.profile = { ...host.faults.profile, share: 0, lostShare: 0 }
    }
  }

  assertIntended(host: FleetHost, fileName: string): void {
    if (host.state.judging.countIntents(fileName) === 0)
      this.break(new Violation('P2', `${host.name} sends "${fileName}" without an intent`))
  }

  recordUpload(host: FleetHost, upload: SeenUpload): void {
    const { sha256, mime, fileName, isStored } = upload
    const key = `${sha256} ${mime}`
    const isSecond = isStored && this.#stored.some((one) => one.key === key)
    host.record(
      `uploaded ${fileName} ${sha256.slice(0, 8)} ${isStored ? 'stored' : 'not stored'}${isSecond ? ' AGAIN' : ''}`,
    )
    if (isStored) this.#stored.push({ key, upload })
  }

  recordReported(host: FleetHost, resourceId: string): void {
    host.record(`reported ${resourceId}`)
    if (!this.service.find(resourceId))
      this.break(new Violation('P1', `${host.name} reports ${resourceId}, which is not there`))
    this.#reported.push({ host, resourceId })
  }

  /** What was reported stays known, after each death as well (P1). */
  assertReported(): void {
    for (const { host, resourceId } of this.#reported) {
      if (!host.state.judging.holdsResource(resourceId))
        throw new Violation('P1', `${host.name} has lost the receipt of ${resourceId}`)
    }
  }

  get uploads(): number {
    return this.#stored.length
  }

  /**
   * A content is sent once (P3). Only lost commits excuse a further time, if they were about the content and the search that follows could not
   * find it, since it has another name there; the ledger tells each further one that any host knows of, and once.
   */
  assertSentOnce(): void {
    const extraSends = byContent(this.ledger.tables.extraSends)
    const resources = Map.groupBy(this.service.resources, ({ sha256, mime }) => `${sha256} ${mime}`)
    for (const [key, sent] of resources) {
      const name = `"${sent[0]?.fileName}" (${key.slice(0, 8)})`
      const again = sent.length - 1
      if (again > 0 && !this.#lost.has(key)) throw new Violation('P3', `${name} was stored ${sent.length} times`)
      if (new Set(sent.map(({ fileName }) => fileName)).size < sent.length)
        throw new Violation('P3', `${name} was stored ${sent.length} times, where a search would have found it`)
      const known = sent.filter(({ id }) => this.hosts.some(({ state }) => state.judging.holdsResource(id)))
      const told = extraSends.get(key)?.length ?? 0
      if (told < known.length - 1 || told > again)
        throw new Violation('P3', `${name} was stored ${sent.length} times, and told as sent again ${told} times`)
    }
    const warned = new Set(this.hosts.flatMap((host) => host.told))
    const [first] = this.service.resources.filter(
      ({ id, sha256, mime }) => warned.has(id) && resources.get(`${sha256} ${mime}`)?.length === 1,
    )
    if (first) throw new Violation('P3', `"${first.fileName}" was told as sent again, which it was not`)
  }

  /** All hosts together send no more in a day than the limit. */
  assertDay(): void {
    const { limits } = this.scenario
    if (limits.newPerDay !== null && !this.#hasFailedOver && this.uploads > limits.newPerDay)
      throw new Violation('P21', `${this.uploads} contents were sent in a day where newPerDay is ${limits.newPerDay}`)
  }

  /** Every file of every host is at the service, and its host knows it. */
  assertNothingLost(): void {
    for (const { name, state, listFiles } of this.hosts.map((host) => ({
      name: host.name,
      state: host.state,
      listFiles: () => host.listFiles(),
    }))) {
      for (const { path, sha256, mime } of listFiles()) {
        const id = state.judging.findResource(sha256, mime)
        const resource = id === undefined ? undefined : this.service.find(id)
        if (resource?.sha256 !== sha256)
          throw new Violation('converged', `${name}: "${path}" never reached the service`)
      }
    }
  }

  /**
   * Claims of contents that some host still has have ended. After a failover, a host brings what was lost once it sends again: until then
   * the claim is in doubt.
   */
  assertClaimsEnd(): void {
    if (this.#hasFailedOver) return
    const wanted = new Set(
      this.hosts.flatMap((host) => host.listFiles().map(({ sha256, mime }) => `${sha256} ${mime}`)),
    )
    const left = [...byContent(this.ledger.tables.claims).keys()].filter((key) => wanted.has(key))
    if (left.length > 0) throw new Violation('every claim ends', `${left.length} claims are left at the ledger`)
  }
}
