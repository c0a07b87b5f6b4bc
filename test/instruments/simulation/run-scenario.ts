/** Runs one scenario: the program as it is in a simulated world, judged after each phase and at the end. */
import { InterruptedError, ShelfdError, TemporaryError } from '../../../src/foundation/errors.ts'
import type { FileSystem } from '../../../src/local/read/file-system.ts'
import type { Engine } from '../../../src/sync/engine.ts'
import { retryFailures } from '../../../src/sync/operator/quarantine.ts'
import {
  finishRemovals,
  listPrunable,
  type Removal,
  recordRemoval,
  removeResources,
} from '../../../src/sync/operator/tidy-library.ts'
import type { PassOptions } from '../../../src/sync/pass.ts'
import { type RunResult, runSync } from '../../../src/sync/run/run-sync.ts'
import { applyChange, plantLink } from './apply-change.ts'
import { arrivalMs, CALM_INTERVALS, type CalmWatch, expectArrival, hashesOf, REMAINING } from './calm-watch.ts'
import { CALM } from './faults.ts'
import type { FullDisk, Life } from './life.ts'
import { ORIGIN } from './network.ts'
import {
  assertConverged,
  assertCopies,
  assertDay,
  assertExit,
  assertHalted,
  assertKept,
  assertReport,
  assertTidied,
  assertUnchanged,
  stateOf,
} from './oracles.ts'
import { ANSWERS, DOCS, PLAIN } from './pass-options.ts'
import { type Machine, startProgram } from './program.ts'
import type { Death, Phase, Scenario } from './scenario.ts'
import type { SimulatedState } from './state.ts'
import { type WatchActions, watchFor } from './watch.ts'
import { LEFT_OUT, ROOT, Violation, World } from './world.ts'

const INTERVALS = { rescanMs: 600_000, pollIntervalMs: 60_000, settleMs: 5_000 }
/** The longest quarantine, and a little. */
const LONG_MS = 25 * 3_600_000
const MAX_RUNS = 40
/** While something is always bad. */
const RUNS_BESIDE_BAD = 3

export interface Judgement {
  readonly violation: Violation | undefined
  readonly trace: readonly string[]
}

/** `unhandled` collects what nobody caught meanwhile: a real process would end. */
export async function runScenario(
  scenario: Scenario,
  state: SimulatedState,
  unhandled: readonly unknown[],
): Promise<Judgement> {
  using world = new World(scenario.seed, scenario.traits, state)
  const story = new Story(world, scenario)
  try {
    for (const phase of scenario.phases) {
      await story.perform(phase)
      world.assertAlways()
      assertCopies(world)
      assertDay(world)
      if (unhandled.length > 0) throw unhandled[0]
    }
    await story.converge(scenario.calmWatch)
    if (unhandled.length > 0) throw unhandled[0]
    return { violation: undefined, trace: world.trace }
  } catch (error) {
    if (error instanceof Violation) return { violation: error, trace: world.trace }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { violation: new Violation('no crash', text), trace: world.trace }
  }
}

class Story {
  readonly #world: World

  constructor(world: World, scenario: Scenario) {
    this.#world = world
    const changes = scenario.phases.flatMap((phase) => (phase.kind === 'change' ? [phase.change] : []))
    if (world.traits.linkShare > 0) {
      world.disk.place(`${ROOT}/${LEFT_OUT}`, Buffer.from('a secret that a rule leaves out'))
      world.onOpen = (path) => plantLink(world, path)
    }
    world.race = () => {
      const change = changes[Math.floor(world.random() * changes.length * 1.3)]
      applyChange(world, change ?? { kind: 'alter', how: 'overwrite' })
    }
  }

  async perform(phase: Phase): Promise<void> {
    const world = this.#world
    world.record(`— ${JSON.stringify(phase)}`)
    const known = world.state.judging.listPaths()
    world.swaps.isAllowed = phase.kind === 'sync' || phase.kind === 'watch'
    switch (phase.kind) {
      case 'change':
        applyChange(world, phase.change)
        break
      case 'pass':
        await world.clock.advance(phase.ms)
        break
      case 'jump':
        world.clock.jump(phase.ms)
        world.hasJumped = true
        break
      case 'sync':
        await this.#sync(phase)
        if (!phase.death?.losesPower) assertKept(world, known)
        break
      case 'watch':
        await watchFor(
          world,
          { ...phase, scanIntervals: INTERVALS, isPolled: false },
          { ...this.#watchActions(phase), apply: (change) => applyChange(world, change) },
        )
        break
      case 'lose-root':
        await this.#loseRoot(phase.how)
        break
      case 'lose-store':
        world.loseStore()
        break
      case 'tidy':
        await this.#tidy(phase)
        break
    }
    world.swaps.isAllowed = false
  }

  /** Runs until all is well, with and without what is always broken; then a further run must change nothing. */
  async converge(calmWatch: CalmWatch | null): Promise<void> {
    const world = this.#world
    world.race = () => {}
    world.onOpen = () => {}
    world.record('— converge')
    this.#sendAgainWhatWasRemoved()
    world.faults.profile = { ...world.faults.profile, share: 0 }
    // What is bad each time is tried first each time, and may take all that a limit leaves.
    world.limits = { ...world.limits, newPerRun: null, newPerDay: null }
    if (world.faults.profile.alwaysShare > 0) await this.#runBesideBad()
    world.faults.profile = CALM
    for (const path of world.disk.list(ROOT).keys()) {
      world.disk.setReadable(`${ROOT}/${path}`, true)
      world.disk.setFault(`${ROOT}/${path}`, undefined)
    }
    let last = await this.#runUntilSettled()
    if (calmWatch) {
      await this.#watchInPeace(calmWatch)
      last = await this.#runUntilSettled()
    }
    world.assertAlways()
    assertCopies(world)
    assertConverged(world, DOCS, { isHealed: true })
    await assertReport(world, last, DOCS)
    const before = stateOf(world)
    await this.#run({})
    assertUnchanged(before, stateOf(world))
  }

  #sendAgainWhatWasRemoved(): void {
    const world = this.#world
    const contentIds = world.state.judging.listWithheld().map(({ id }) => id)
    world.withheld = new Set()
    retryFailures(this.#start(UNHARMED, new AbortController().signal).engine.store, { contentIds, paths: [] })
  }

  /** All that is written arrives in time, beside what the service refuses and what it takes long for. */
  async #watchInPeace(plan: CalmWatch): Promise<void> {
    const world = this.#world
    world.record(`— ${JSON.stringify(plan)}`)
    applyChange(world, REMAINING)
    const { limits } = world
    const withinMs = arrivalMs(plan)
    world.calm = { slow: hashesOf(plan.slow) }
    world.limits = { ...limits, inIngestion: plan.inIngestion }
    world.faults.refused = hashesOf(plan.refused)
    const watching = { ...plan, lossShare: 0, scanIntervals: CALM_INTERVALS }
    await watchFor(world, watching, {
      ...this.#watchActions(UNHARMED),
      apply: (change, life) => {
        applyChange(world, change)
        const isRefused = 'content' in change && plan.refused.includes(change.content)
        if ('path' in change && !isRefused) expectArrival(world, life, change.path, withinMs)
      },
    })
    world.limits = limits
    world.faults.refused = new Set()
  }

  #watchActions(harm: Harm): Omit<WatchActions, 'apply'> {
    return {
      settings: DOCS,
      start: (signal) => this.#start(harm, signal),
      end: (life) => this.#bury(life, harm.death),
    }
  }

  /** What is always bad stays alone: everything else gets through, and it is named. */
  async #runBesideBad(): Promise<void> {
    const world = this.#world
    for (let runs = 0, heldBack = 0; runs < RUNS_BESIDE_BAD + heldBack && heldBack < MAX_RUNS; runs += 1) {
      await world.clock.advance(LONG_MS)
      const { result } = await this.#run({ ...ANSWERS, waitMs: LONG_MS * 2 })
      heldBack += Number(result.summary.mirrors.some(({ uploads }) => uploads.heldBack > 0))
    }
    assertConverged(world, DOCS, { isHealed: false })
    assertCopies(world)
  }

  /** As people would: again after a while, answering what is asked, until a run changes nothing any more. */
  async #runUntilSettled(): Promise<Engine> {
    const world = this.#world
    for (let runs = 0, before = ''; runs < MAX_RUNS; runs += 1) {
      await world.clock.advance(LONG_MS)
      const { engine, result } = await this.#run({ ...ANSWERS, waitMs: LONG_MS * 2 })
      const now = world.state.dump()
      // A run that ended well left nothing to do: the one that shows it follows in any case.
      if (now === before || result.outcome === 'done') return engine
      before = now
    }
    throw new Violation('P17', `after ${MAX_RUNS} runs in an unchanged world there is still something to do`)
  }

  async #run(options: Partial<PassOptions>): Promise<{ readonly engine: Engine; readonly result: RunResult }> {
    const world = this.#world
    const { engine, life } = this.#start(UNHARMED, new AbortController().signal)
    const result = await world.drive(life, runSync(engine, [DOCS], { ...PLAIN, ...options }))
    if (!result) throw new Error('The program died of itself')
    world.record(`ended ${result.outcome} ${result.failure?.message ?? ''}`)
    return { engine, result }
  }

  async #sync(phase: Extract<Phase, { kind: 'sync' }>): Promise<void> {
    const world = this.#world
    const stop = new AbortController()
    const grace = new AbortController()
    const begunAt = world.uploads.length
    const { engine, life } = this.#start(phase, stop.signal, grace.signal)
    if (phase.stopsAt !== null) {
      const at = world.clock.startTimer(phase.stopsAt * 10, () => {
        stop.abort(new InterruptedError())
        world.clock.startTimer(20_000, () => grace.abort(new InterruptedError()))
      })
      using _at = at
      await this.#finish(phase, engine, life, begunAt)
    } else await this.#finish(phase, engine, life, begunAt)
    this.#bury(life, phase.death)
  }

  async #finish(phase: Extract<Phase, { kind: 'sync' }>, engine: Engine, life: Life, begunAt: number): Promise<void> {
    const { waitMs, hashesEverything: hashEverything, isDryRun } = phase
    const options = { ...PLAIN, waitMs, hashEverything, isDryRun }
    const running = runSync(engine, [DOCS], options).catch((error: unknown) => {
      // Even the end of the run could not be recorded, and the command ends with that error.
      if (life.fullDisk && error instanceof TemporaryError && error.code === 'disk-full') return undefined
      throw error
    })
    const result = await this.#world.drive(life, running)
    this.#world.record(`ended ${result?.outcome ?? 'dead'} ${result?.failure?.message ?? ''}`)
    assertExit(this.#world, { result, settings: DOCS, isDryRun, isWaiting: waitMs > 0, begunAt })
  }

  /** As the commands do it, which end first what another one began. */
  async #tidy({ path, keepVersions, death }: Extract<Phase, { kind: 'tidy' }>): Promise<void> {
    const world = this.#world
    const before = [...world.service.resources]
    const { engine, life } = this.#start({ death, fullDisk: null }, new AbortController().signal)
    const { store, signal } = engine
    const { id } = store.mirrors.findByName(DOCS.name) ?? {}
    const tidy = async () => {
      const { client } = await engine.service.connect(signal)
      const context = { client, signal, record: async (removal: Removal) => recordRemoval(store, removal) }
      await finishRemovals(context, store.unusedResources.listBegun(ORIGIN))
      const bounds = { endedBefore: Number.POSITIVE_INFINITY, keepVersions }
      if (path === null) return await removeResources(context, listPrunable(store, ORIGIN, bounds), 'unused')
      const found = id === undefined ? [] : store.unusedResources.ofFile(ORIGIN, id, path)
      return await removeResources(context, found, 'withheld')
    }
    // A person sees the message, and tries again.
    const tidying = tidy().catch((error: unknown) => {
      if (error instanceof ShelfdError) return undefined
      throw error
    })
    const removed = await world.drive(life, tidying)
    this.#bury(life, death)
    world.record(`removed ${removed ?? 'nothing for certain'}`)
    const { withheld } = world
    world.recordTidied()
    assertTidied(world, { before, path, withheld, isDone: removed !== undefined, keepVersions })
  }

  #start({ death, fullDisk }: Harm, signal: AbortSignal, graceSignal?: AbortSignal): { engine: Engine; life: Life } {
    const world = this.#world
    const life = world.beginLife(death?.atStep ?? Number.POSITIVE_INFINITY)
    world.state.recover()
    const machine: Machine = {
      clock: world.clock,
      random: world.random,
      fs: this.#view(life),
      state: world.state,
      network: world.networkHooks(),
      limits: world.limits,
      signal,
      graceSignal: graceSignal ?? new AbortController().signal,
      onReported: (path, resourceId) => world.recordReported(path, resourceId),
    }
    // One that dies while it starts has done nothing.
    try {
      const engine = startProgram(machine, life)
      life.fullDisk = fullDisk
      return { engine, life }
    } catch (error) {
      if (!life.isDead) throw error
      const again = world.beginLife(Number.POSITIVE_INFINITY)
      return { engine: startProgram({ ...machine, fs: this.#view(again) }, again), life: again }
    }
  }

  #view(life: Life): FileSystem {
    const onCall = (name: string, path?: string) => {
      life.step(name)
      if (path !== undefined) this.#world.onOpen(path)
    }
    return this.#world.disk.view({ onCall })
  }

  #bury(life: Life, death: Death | null): void {
    const { state, hidden } = this.#world
    const hasLostPower = life.isDead && death?.losesPower === true
    life.isDead = true
    if (hasLostPower) {
      state.losePower()
      hidden.losePower()
    } else state.recover()
  }

  /** Files are gone for a reason that nobody meant: nothing may be sent or recorded as removed. */
  async #loseRoot(how: Extract<Phase, { kind: 'lose-root' }>['how']): Promise<void> {
    const world = this.#world
    const isPinned = world.state.queries.mirrors.findByName(DOCS.name) !== undefined
    // What was never a mirror may be anything.
    if (!isPinned) return
    const known = world.state.judging.countFiles()
    const keepsRoot = how === 'emptied' || how === 'other-files'
    // Where nothing was known, other files are new ones.
    if (how === 'other-files' && known === 0) return
    const uploads = world.uploads.length
    const { race, onOpen } = world
    world.race = () => {}
    world.onOpen = () => {}
    world.disk.rename(ROOT, '/home/elsewhere')
    if (keepsRoot) world.disk.rename('/home/elsewhere', ROOT)
    if (how === 'other-disk') {
      world.disk.mountAt(ROOT)
      world.disk.place(`${ROOT}/private.md`, Buffer.from('a file of another disk'))
    }
    const kept = new Map<string, string>()
    if (keepsRoot) {
      // Few files may be removed with it.
      world.hidden.forget()
      world.disk.makeDirectory('/home/kept')
      for (const name of [...world.disk.list(ROOT).keys()].filter((path) => !path.includes('/'))) {
        kept.set(`/home/kept/${name}`, `${ROOT}/${name}`)
        world.disk.rename(`${ROOT}/${name}`, `/home/kept/${name}`)
      }
    }
    if (how === 'other-files') world.disk.place(`${ROOT}/private.md`, Buffer.from('a file of another disk'))
    const { result } = await this.#run({})
    assertHalted(world, { result, how, known, uploads })
    world.race = race
    world.onOpen = onOpen
    if (how === 'other-disk') world.disk.remove(ROOT)
    if (how === 'other-files') world.disk.remove(`${ROOT}/private.md`)
    if (keepsRoot) for (const [from, to] of kept) world.disk.rename(from, to)
    else world.disk.rename('/home/elsewhere', ROOT)
  }
}

/** What befalls a life of the program. */
interface Harm {
  readonly death: Death | null
  readonly fullDisk: FullDisk | null
}

const UNHARMED: Harm = { death: null, fullDisk: null }
