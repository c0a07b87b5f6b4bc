import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Random } from '../../../src/foundation/clock.ts'
import type { LedgerAddress } from '../../../src/ledger/postgres/address.ts'
import { openFleetView } from '../../../src/ledger/postgres/postgres-fleet-view.ts'
import { homeVariables, type Outcome, type Variables, variablesOf } from '../../support/home.ts'
import type { Running } from '../../support/run-shelfd.ts'
import { type LedgerService, startLedgerService } from './ledger-service.ts'
import { runUntil } from './round.ts'

export interface FleetPlan {
  /** The directory for the hosts, which exists. */
  readonly at: string
  /** The `main` of the program. */
  readonly program: string
  /** A ledger that was created with this lease. */
  readonly address: LedgerAddress
  readonly leaseMs: number
  readonly hosts: number
  readonly contents: number
  /** How long hosts are killed and stopped. */
  readonly durationMs: number
  /** Of the moments of a run, about two a second, those at which its host is killed or stopped. */
  readonly killShare: number
  readonly stopShare: number
  readonly random: Random
  /** Ends PostgreSQL as a crash does, and starts it again; called every now and then. */
  readonly crash?: () => Promise<void>
  readonly signal?: AbortSignal
}

export interface FleetResult {
  readonly kills: number
  /** Stops that were longer than lease and grace. */
  readonly stops: number
  /** Sessions that another host closed, since it saw them silent for lease and grace. */
  readonly takeOvers: number
  readonly crashes: number
  readonly uploads: number
  /** Contents that the service has more than once. */
  readonly twice: number
  /** Second sends that the ledger knows. */
  readonly told: number
  /** What should not be; empty when all promises were kept. */
  readonly complaints: readonly string[]
}

/** Each host has this share of all contents. */
const SHARE = 0.6
const LOST_RESPONSES = 0.05
/** So that most of a run is uploading, and a stop meets that. */
const MAX_UPLOAD_MS = 200
/** Shorter than a host waits for others, so that a stop meets every moment of a run. */
const MAX_PAUSE_MS = 400
const CRASH_EACH_MS = 15_000
/** Runs that a host may need after the harm is over: some end while others still send. */
const MAX_LAST_RUNS = 12
const EXITS = [0, 1, 4, 5, 8, 130]

/** Hosts with common contents, over one ledger and a service that stores each upload anew, each killed and stopped at random. */
export async function runFleet(plan: FleetPlan): Promise<FleetResult> {
  await using service = await startLedgerService(plan.random)
  return await new Fleet(plan, service).run()
}

class Fleet {
  readonly #plan: FleetPlan
  readonly #service: LedgerService
  readonly #complaints: string[] = []
  readonly #hosts: readonly Host[]
  #kills = 0
  #stops = 0
  #crashes = 0
  #takeOvers = 0

  constructor(plan: FleetPlan, service: LedgerService) {
    this.#plan = plan
    this.#service = service
    this.#hosts = Array.from({ length: plan.hosts }, (_, index) => new Host(`host-${index}`, plan, service.url))
  }

  async run(): Promise<FleetResult> {
    const { address, durationMs, signal } = this.#plan
    this.#service.lostResponses = LOST_RESPONSES
    this.#service.longestUploadMs = MAX_UPLOAD_MS
    const endMs = performance.now() + durationMs
    const isOver = () => performance.now() > endMs || signal?.aborted === true
    await Promise.all([...this.#hosts.map((host) => this.#harm(host, isOver)), this.#crashNowAndThen(isOver)])
    signal?.throwIfAborted()
    this.#service.lostResponses = 0
    this.#service.longestUploadMs = 0
    await Promise.all(this.#hosts.map((host) => this.#finish(host)))
    await using view = openFleetView(address)
    const { secondSends: told, claims } = await view.readTotals()
    if (claims > 0) this.#complaints.push(`${claims} claims are left`)
    const { uploads, twice } = this.#judge(told)
    const counts = { kills: this.#kills, stops: this.#stops, takeOvers: this.#takeOvers, crashes: this.#crashes }
    return { ...counts, uploads, twice, told, complaints: this.#complaints }
  }

  /** Runs the host again and again; kills or stops it at some moment of each run. */
  async #harm(host: Host, isOver: () => boolean): Promise<void> {
    const { random, leaseMs, killShare, stopShare } = this.#plan
    for (let round = 0; !isOver(); round += 1) {
      host.write(round)
      const running = await host.start()
      const isRunning = () => running.child.exitCode === null && running.child.signalCode === null
      // Some run to their end, so that the fleet gets on.
      while (isRunning() && !isOver()) {
        await sleep(100 + random() * 900)
        if (!isRunning()) break
        const kind = random()
        if (kind < killShare) {
          this.#kills += 1
          running.child.kill('SIGKILL')
        } else if (kind < killShare + stopShare) {
          const isLong = random() < 0.75
          const stopMs = isLong ? leaseMs * (2.2 + random()) : random() * leaseMs
          running.child.kill('SIGSTOP')
          await sleep(stopMs)
          running.child.kill('SIGCONT')
          this.#stops += Number(isLong)
        }
      }
      if (isOver()) running.child.kill('SIGTERM')
      this.#check(host, await running.ended)
      await sleep(random() * MAX_PAUSE_MS)
    }
  }

  async #crashNowAndThen(isOver: () => boolean): Promise<void> {
    const { crash } = this.#plan
    for (let nextMs = performance.now() + CRASH_EACH_MS; crash && !isOver(); ) {
      await sleep(200)
      if (performance.now() < nextMs) continue
      await crash()
      this.#crashes += 1
      nextMs = performance.now() + CRASH_EACH_MS
    }
  }

  async #finish(host: Host): Promise<void> {
    let last = ''
    for (let run = 0; run < MAX_LAST_RUNS; run += 1) {
      const outcome = await (await host.start()).ended
      this.#check(host, outcome)
      if (outcome.exitCode === 0) return
      // What ended in doubt again and again rests for a while.
      await (await host.start(['failed', 'retry', '--all'])).ended
      last = `exit ${outcome.exitCode}\n${outcome.stdout}\n${outcome.stderr}`
    }
    this.#complaints.push(`${host.name} does not come to its end: ${last}`)
  }

  #check({ name }: Host, { exitCode, stderr }: Outcome): void {
    this.#takeOvers += stderr.split('a host that is silent').length - 1
    if (exitCode === null || (EXITS.includes(exitCode) && !stderr.includes('"code":"unexpected"'))) return
    this.#complaints.push(`${name}: exit ${exitCode}\n${stderr}`)
  }

  /** Compares what the service has with what the hosts have, and with what the ledger tells. */
  #judge(told: number): { uploads: number; twice: number } {
    const stored = Map.groupBy(this.#service.stored, ({ sha256 }) => sha256)
    for (const { name, written } of this.#hosts) {
      const lost = [...written].filter((sha256) => !stored.has(sha256)).length
      if (lost > 0) this.#complaints.push(`${name} has ${lost} contents that the service has not`)
    }
    const twice = [...stored.values()].filter((resources) => resources.length > 1).length
    if (twice > told) this.#complaints.push(`${twice} contents were sent twice, and the ledger tells ${told}`)
    for (const stray of this.#service.strays) this.#complaints.push(stray)
    return { uploads: this.#service.stored.length, twice }
  }
}

class Host {
  readonly name: string
  /** SHA-256 of the contents of its files. */
  readonly written = new Set<string>()
  readonly #plan: FleetPlan
  readonly #home: string
  readonly #env: Variables

  constructor(name: string, plan: FleetPlan, url: string) {
    const { at, address } = plan
    this.name = name
    this.#plan = plan
    this.#home = join(at, name)
    this.#env = {
      ...homeVariables(this.#home),
      ...variablesOf({ url, token: 'a-token-of-the-fleet' }),
      SHELFD_CHECKERS: '1',
      SHELFD_RETRY_FOR: '10s',
    }
    mkdirSync(join(this.#home, 'config', 'shelfd'), { recursive: true })
    mkdirSync(join(this.#home, 'Papers'))
    const { user, host, port, database } = address
    const fleet = {
      database: `postgres://${user}@${host}:${port}/${database}`,
      passwordFile: join(this.#home, 'password'),
      host: name,
    }
    const mirrors = [{ name: 'Papers', path: join(this.#home, 'Papers'), library: 'Library', settle: '0s' }]
    writeFileSync(join(this.#home, 'config', 'shelfd', 'config.yaml'), stringify({ mirrors, fleet }))
  }

  /** Writes the share of the contents of this round. */
  write(round: number): void {
    const { random, contents } = this.#plan
    const perRound = Math.ceil(contents / 10)
    for (let index = round * perRound; index < Math.min(contents, (round + 1) * perRound); index += 1) {
      if (random() > SHARE) continue
      const text = `content ${index}\n`.repeat(1 + (index % 40))
      this.written.add(createHash('sha256').update(text).digest('hex'))
      writeFileSync(join(this.#home, 'Papers', `${index}-of-${this.name}.md`), text)
    }
  }

  async start(args = ['sync', '--json', '--log-format', 'json']): Promise<Running> {
    const { program, address, signal } = this.#plan
    writeFileSync(join(this.#home, 'password'), (await address.password?.()) ?? '', { mode: 0o600 })
    return runUntil(signal, args, { main: program, cwd: this.#home, env: this.#env })
  }
}
