import { mimeOf } from '../../../../src/contract/mime.ts'
import { InterruptedError, messageOf, TemporaryError } from '../../../../src/foundation/errors.ts'
import type { Logger } from '../../../../src/foundation/logger.ts'
import { silentLogger } from '../../../../src/foundation/logger.ts'
import type { Engine, MirrorSettings } from '../../../../src/sync/engine.ts'
import { Membership } from '../../../../src/sync/fleet/membership.ts'
import type { PassOptions } from '../../../../src/sync/pass.ts'
import { type RunResult, runSync } from '../../../../src/sync/run/run-sync.ts'
import { seededRandom } from '../../../support/random.ts'
import { bytesOf, sha256Of } from '../contents.ts'
import { SimulatedDisk } from '../disk.ts'
import { type Fault, Faults } from '../faults.ts'
import { type FullDisk, Life, ProcessDied } from '../life.ts'
import { DOCS, PLAIN } from '../pass-options.ts'
import { type Machine, startProgram } from '../program.ts'
import type { SimulatedState } from '../state.ts'
import { ROOT } from '../world.ts'
import type { Act, Harm, HostTraits, Moment } from './fleet-scenario.ts'
import type { FleetWorld } from './fleet-world.ts'
import { HostClock } from './host-clock.ts'

const SETTINGS: MirrorSettings = { ...DOCS, settleMs: 1_000 }

type Troubles = Pick<Extract<Act, { kind: 'sync' }>, 'harms' | 'stopsAfterMs' | 'fullDisk'>

const NO_TROUBLES: Troubles = { harms: [], stopsAfterMs: null, fullDisk: null }
const RETRY = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000 }
const SECOND_SEND = 'a content was sent twice, by two hosts'

/** One machine of a fleet: its own disk, state, clocks and lives of the program. */
export class FleetHost {
  readonly name: string
  readonly clock: HostClock
  readonly disk: SimulatedDisk
  readonly state: SimulatedState
  readonly faults: HostFaults
  /** Its calls of the ledger are lost. */
  hasLedger = true
  life = new Life(Number.POSITIVE_INFINITY, () => {})
  /** Resources of contents that the program said were sent twice. */
  readonly told: string[] = []
  readonly #world: FleetWorld
  readonly #random: () => number
  #harms: readonly Harm[] = []
  /** The step of its life at which it asked for the first claims. */
  #claimedAtStep: number | undefined
  #calls = { claim: 0, renewal: 0 }

  constructor(world: FleetWorld, index: number, { state, traits }: { state: SimulatedState; traits: HostTraits }) {
    const { seed, faults } = world.scenario
    this.name = `host-${index}`
    this.#world = world
    this.clock = new HostClock(world.clock, traits)
    this.disk = new SimulatedDisk(() => BigInt(this.clock.nowMs()) * 1_000_000n)
    this.disk.makeDirectory('/home')
    this.disk.makeDirectory(ROOT)
    this.state = state
    this.faults = new HostFaults(seed * 31 + index, faults)
    this.#random = seededRandom(seed * 31 + index)
    const losesPower = (act: Act) => act.kind === 'sync' && act.harms.some(({ kind }) => kind === 'power-cut')
    state.begin({ mayLosePower: traits.acts.some(losesPower) })
  }

  record(what: string): void {
    this.#world.record(`${this.name} ${what}`)
  }

  async perform(act: Act): Promise<void> {
    await this.clock.awake()
    if (act.kind !== 'sync') this.record(JSON.stringify(act))
    switch (act.kind) {
      case 'put':
        this.#put(act.path, bytesOf(act.content))
        break
      case 'remove':
        this.disk.remove(`${ROOT}/${act.path}`)
        break
      case 'rename':
        if (this.disk.kindOf(`${ROOT}/${act.path}`) === undefined) break
        this.#makeParents(act.to)
        this.disk.rename(`${ROOT}/${act.path}`, `${ROOT}/${act.to}`)
        break
      case 'pass':
        await this.clock.sleep(act.ms)
        break
      case 'sync':
        await this.sync({ ...PLAIN, waitMs: act.waitMs }, act)
        break
    }
  }

  /** Runs the program once; undefined if it died. */
  async sync(
    options: PassOptions,
    { harms, stopsAfterMs, fullDisk }: Troubles = NO_TROUBLES,
  ): Promise<RunResult | undefined> {
    const [stop, grace] = [new AbortController(), new AbortController()]
    const { promise: died, resolve: die } = Promise.withResolvers<undefined>()
    const life = this.#beginLife(harms, () => die(undefined))
    this.record(`begins ${JSON.stringify(harms)}`)
    using _stop = this.#world.clock.startTimer(stopsAfterMs ?? Number.MAX_SAFE_INTEGER, () => {
      stop.abort(new InterruptedError())
      this.#world.clock.startTimer(20_000, () => grace.abort(new InterruptedError()))
    })
    const running = this.#run(life, { options, fullDisk, signal: stop.signal, graceSignal: grace.signal })
    running.catch((error: unknown) => error instanceof ProcessDied || life.onFailure(error))
    const result = await Promise.race([running, died])
    this.record(`ended ${result?.outcome ?? 'dead'} ${result?.failure?.message ?? ''}`)
    const hasLostPower = life.isDead && harms.some(({ kind }) => kind === 'power-cut')
    life.isDead = true
    if (hasLostPower) this.state.losePower()
    else this.state.recover()
    return result
  }

  async #run(
    life: Life,
    {
      options,
      fullDisk,
      ...signals
    }: Pick<Machine, 'signal' | 'graceSignal'> & {
      readonly options: PassOptions
      readonly fullDisk: FullDisk | null
    },
  ): Promise<RunResult | undefined> {
    let engine: Engine | undefined
    try {
      engine = startProgram(this.#machine(life, signals), life)
      life.fullDisk = fullDisk
      return await runSync(engine, [SETTINGS], { ...options })
    } catch (error) {
      // Even the end of the run could not be recorded, and the command ends with that error.
      if (fullDisk && error instanceof TemporaryError && error.code === 'disk-full') return undefined
      throw error
    } finally {
      await engine?.fleet?.[Symbol.asyncDispose]().catch((error: unknown) =>
        this.record(`cannot close: ${messageOf(error)}`),
      )
    }
  }

  #beginLife(harms: readonly Harm[], onDeath: () => void): Life {
    this.state.recover()
    this.#harms = harms
    this.#calls = { claim: 0, renewal: 0 }
    this.#claimedAtStep = undefined
    this.life = new Life(Number.POSITIVE_INFINITY, () => this.#onStep(), onDeath)
    return this.life
  }

  #onStep(): void {
    const { steps } = this.life
    this.#befall('start', steps)
    if (this.#claimedAtStep !== undefined) this.#befall('first-claims', steps - this.#claimedAtStep)
  }

  /** The ledger has carried out a call, whose answer follows what befalls the host now. */
  onCarriedOut(call: string): void {
    if (call === 'claim') this.#claimedAtStep ??= this.life.steps
    if (call !== 'claim' && call !== 'renew') return
    const name = call === 'renew' ? 'renewal' : call
    this.#calls[name] += 1
    this.#befall(name, this.#calls[name])
  }

  #befall(after: Moment['after'], nth: number): void {
    for (const harm of this.#harms) {
      if (harm.at.after !== after || harm.at.nth !== nth) continue
      this.record(JSON.stringify(harm))
      if (harm.kind === 'death' || harm.kind === 'power-cut') this.life.die()
      else this.#world.befall(this, harm)
      if (harm.kind === 'pause' || harm.kind === 'sleep') this.clock.stop(harm.ms, harm.kind === 'sleep')
      if ('jumpMs' in harm) this.clock.jump(harm.jumpMs)
    }
  }

  #machine(life: Life, signals: Pick<Machine, 'signal' | 'graceSignal'>): Machine {
    const world = this.#world
    const { limits, retryForMs } = world.scenario
    return {
      ...signals,
      clock: this.clock,
      random: this.#random,
      fs: this.disk.view({ onCall: (name) => life.step(name) }),
      state: this.state,
      limits: world.isConverging ? { ...limits, newPerRun: null, newPerDay: null } : limits,
      network: {
        clock: world.clock,
        random: this.#random,
        faults: this.faults,
        service: world.service,
        onRequest: ({ method, path }) => this.record(`${method} ${path}`),
        onFault: (fault) =>
          this.record(`fault ${fault.kind}${fault.kind === 'answer' ? ` ${fault.reply.status}` : ''}`),
        onUploadBegun: (fileName) => world.assertIntended(this, fileName),
        onUploadEnded: (upload) => world.recordUpload(this, upload),
        onUploadOver: () => {},
        longestPassMs: world.scenario.longestPassMs,
        longestPartMs: world.scenario.longestPartMs,
        longestBufferMs: world.scenario.longestBufferMs,
        awake: () => this.clock.awake(),
      },
      onReported: (_, resourceId) => world.recordReported(this, resourceId),
      joinFleet: (context, service) =>
        new Membership(
          { ...context, logger: this.#logger() },
          {
            connect: async () => world.connect(this, life),
            name: this.name,
            version: '1.0.0',
            place: this.name,
            service,
            limits: { newPerDay: world.isConverging ? null : limits.newPerDay },
            bootMs: this.clock.bootMs,
            retry: { ...RETRY, forMs: retryForMs },
          },
        ),
    }
  }

  #logger(): Logger {
    const warn: Logger['warn'] = (message, fields) => {
      this.record(`warns ${message} ${fields?.reason ?? ''}`)
      if (message === SECOND_SEND) this.told.push(String(fields?.resourceId))
    }
    return { ...silentLogger, warn }
  }

  #put(path: string, bytes: Uint8Array): void {
    this.#makeParents(path)
    this.disk.place(`${ROOT}/${path}`, bytes)
  }

  #makeParents(path: string): void {
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) {
      this.disk.makeDirectory(`${ROOT}/${path.slice(0, cut)}`)
    }
  }

  listFiles(): { readonly path: string; readonly sha256: string; readonly mime: string }[] {
    return [...this.disk.list(ROOT)].flatMap(([path, node]) =>
      node.kind === 'file'
        ? [{ path, sha256: sha256Of(node.bytes), mime: mimeOf(path.slice(path.lastIndexOf('/') + 1)) }]
        : [],
    )
  }
}

/** The faults that one host meets; cut off from the service, all its requests are refused. */
class HostFaults extends Faults {
  hasService = true

  override decide(route: string, subject: string): Fault | undefined {
    return this.hasService ? super.decide(route, subject) : { kind: 'refused' }
  }
}
