import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Random } from '../../../src/foundation/clock.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { homeVariables, type Outcome, type Variables, variablesOf } from '../../support/home.ts'
import { seededRandom } from '../../support/random.ts'
import { type Around, type Running, runShelfd } from '../../support/run-shelfd.ts'
import { stateFaultVariables } from '../../support/state-faults.ts'
import { Accounts } from './accounts.ts'
import { ChangingTree } from './changing-tree.ts'
import { type Harm, isKill, nameOf } from './harm.ts'
import { type LedgerService, startLedgerService } from './ledger-service.ts'

export interface RoundPlan {
  /** Of everything random in it. */
  readonly seed: number
  /** The directory of the round, which the round creates. */
  readonly at: string
  /** The `main` of the program. */
  readonly program: string
  /** The file of the layer that does harm at changes of the state. */
  readonly layer: string
  /** What happens to its runs, one after the other. */
  readonly harms: readonly Harm[]
  /** The store is one of an older version at first: `program` has one more migration than this one. */
  readonly isOld?: boolean
  /** Every second run is a daemon's. */
  readonly hasDaemons?: boolean
  readonly lostResponses?: number
  /** Ends the round. */
  readonly signal?: AbortSignal
}

export interface RoundResult {
  /** What happened, by the names of harms. */
  readonly done: readonly string[]
  readonly kills: number
  /** What should not be; empty when all promises were kept. */
  readonly complaints: readonly string[]
}

/** A killed process is gone at once, and one that has nothing left to do may run until then. */
const MAX_DAEMON_MS = 2_500
const MAX_SYNC_MS = 60_000
const HALTED_CODES = [0, 1, 4, 5, 8, 130]
const FAULT_CODES = [...HALTED_CODES, 78]

/** Runs the program against one service again and again, harms each run, and lets the last ones end in peace. */
export async function runRound(plan: RoundPlan): Promise<RoundResult> {
  const random = seededRandom(plan.seed)
  // How often the service draws is up to the machine; how the tree changes must not be.
  await using service = await startLedgerService(seededRandom(Math.floor(random() * 2 ** 32)))
  const round = new Round(plan, service, random)
  return await round.run()
}

class Round {
  readonly #plan: RoundPlan
  readonly #service: LedgerService
  readonly #random: Random
  readonly #env: Variables
  readonly #stateDir: string
  readonly #tree: ChangingTree
  readonly #accounts: Accounts
  readonly #done: string[] = []
  #kills = 0

  constructor(plan: RoundPlan, service: LedgerService, random: Random) {
    const { at } = plan
    this.#plan = plan
    this.#service = service
    this.#random = random
    this.#stateDir = join(at, 'state', 'shelfd')
    mkdirSync(join(at, 'config', 'shelfd'), { recursive: true })
    this.#env = environment(at, service)
    this.#tree = new ChangingTree(join(at, 'Papers'), random)
    this.#accounts = new Accounts(service, this.#tree, {
      at,
      program: plan.program,
      stateDir: this.#stateDir,
      env: this.#env,
    })
    const mirror = { name: 'Papers', path: this.#tree.root, library: 'Library', settle: '20ms' }
    writeFileSync(join(at, 'config', 'shelfd', 'config.yaml'), stringify({ mirrors: [mirror] }))
    if (plan.isOld) openStore(this.#stateDir)[Symbol.dispose]()
  }

  async run(): Promise<RoundResult> {
    const { harms, signal, lostResponses = 0 } = this.#plan
    this.#service.lostResponses = lostResponses
    this.#service.onUploadBegun = (name) => this.#accounts.recordUploadBegun(name)
    for (const [index, harm] of harms.entries()) {
      signal?.throwIfAborted()
      await this.#harm(harm, index)
      this.#changeTree(harms[index + 1])
    }
    this.#service.lostResponses = 0
    await this.#accounts.close((args) => this.#start(args).ended)
    // What was killed because of that is nobody's fault.
    signal?.throwIfAborted()
    return { done: this.#done, kills: this.#kills, complaints: this.#accounts.complaints }
  }

  /** Lets the run of the next harm come to its moment, however much the runs before it had sent when they were killed. */
  #changeTree(next: Harm | undefined): void {
    const moment = next?.kind === 'service' || next?.kind === 'stopping' ? next.moment : undefined
    // The service is asked for what is in doubt only while a file has that content.
    if (moment !== 'download asked') this.#tree.change(Math.floor(this.#random() * 4))
    if (moment !== undefined) this.#tree.addDirectory()
  }

  async #harm(harm: Harm, index: number): Promise<void> {
    const isDaemon = this.#plan.hasDaemons === true && index % 2 === 1 && harm.kind !== 'pair'
    const before = this.#tree.fingerprint()
    const running = this.#start(isDaemon ? ['daemon'] : SYNC, harm)
    const second = harm.kind === 'pair' ? this.#start(SYNC) : undefined
    const isHarmed = this.#arm(harm, running)
    const over = setTimeout(() => running.child.kill('SIGKILL'), isDaemon ? MAX_DAEMON_MS : MAX_SYNC_MS)
    const outcome = await running.ended
    clearTimeout(over)
    this.#service.onMoment = () => {}
    if (second) this.#accounts.judgePair(outcome, await second.ended)
    await this.#service.settled()
    this.#recordEnd(harm, outcome, isHarmed() && (!isKill(harm) || outcome.exitCode === null))
    if (this.#tree.fingerprint() !== before) this.#accounts.complain('the directory was changed (P8)')
    this.#accounts.recordReceipts(outcome.stderr)
  }

  /** Gives whether the harm was done. */
  #arm(harm: Harm, { child }: Running): () => boolean {
    if (harm.kind === 'time') {
      const timer = setTimeout(() => child.kill('SIGKILL'), harm.afterMs)
      child.once('exit', () => clearTimeout(timer))
    }
    if (harm.kind !== 'service' && harm.kind !== 'stopping') return () => true
    let left = harm.nth
    this.#service.onMoment = (moment) => {
      if (moment !== harm.moment) return
      left -= 1
      if (left !== 0) return
      child.kill(harm.kind === 'service' ? 'SIGKILL' : 'SIGTERM')
      if (harm.kind === 'stopping') setTimeout(() => child.kill('SIGKILL'), harm.graceMs)
    }
    return () => left <= 0
  }

  #recordEnd(harm: Harm, { exitCode, stdout, stderr }: Outcome, isDone: boolean): void {
    if (exitCode === null) this.#kills += 1
    if (isDone) this.#done.push(nameOf(harm))
    if (exitCode === null || harm.kind === 'pair') return
    const codes = harm.kind === 'state' && !isKill(harm) ? FAULT_CODES : HALTED_CODES
    if (codes.includes(exitCode) && !stderr.includes('"code":"unexpected"')) return
    this.#accounts.complain(`${JSON.stringify(harm)}: exit ${exitCode}\n${stdout}\n${stderr}`)
  }

  #start(args: readonly string[], harm?: Harm): Running {
    const { at, program, layer, signal } = this.#plan
    const trace = join(at, 'trace')
    const fault = harm?.kind === 'state' ? harm.fault : undefined
    const variables = fault ? stateFaultVariables(layer, { below: join(at, 'state'), trace, fault }) : {}
    return runUntil(signal, args, { main: program, cwd: at, env: { ...this.#env, ...variables } })
  }
}

/** Starts the program, which lives no longer than this process and no longer than until the signal. */
export function runUntil(signal: AbortSignal | undefined, args: readonly string[], around: Around): Running {
  const running = runShelfd(args, around)
  const kill = () => void running.child.kill('SIGKILL')
  process.prependOnceListener('exit', kill)
  signal?.addEventListener('abort', kill, { once: true })
  running.child.once('exit', () => {
    process.off('exit', kill)
    signal?.removeEventListener('abort', kill)
  })
  return running
}

/** Every resource is named in the log as soon as it is reported. */
const SYNC = ['sync', 'Papers', '--accept-removals', '--json', '-v', '--log-format', 'json']

function environment(at: string, { url }: LedgerService): Variables {
  const service = variablesOf({ url, token: 'a-token-of-the-kill-rounds' })
  return { ...homeVariables(at), ...service, SHELFD_CHECKERS: '1' }
}
