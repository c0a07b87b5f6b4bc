import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stringify } from 'yaml'
import { signIn } from '../../../dashboard/dashboard-client.ts'
import { mirror, problem, run } from '../../../ledger/sentences/published.ts'
import { makeLargeFleet } from '../../../support/large-fleet.ts'
import { endWithUs } from '../../soak/end-with-us.ts'
import type { Bench } from '../bench.ts'
import { clientAddress, fleetSection, openBenchLedger } from '../bench-ledger.ts'
import { median } from '../pairs.ts'
import { type ResultRow, resultRow, showSeconds, verdict } from '../result-table.ts'
import { runProcess } from '../run-process.ts'
import { shelfdEnvironment } from '../run-shelfd.ts'

const MAX_SECONDS = 0.5
const MAX_WORK_SECONDS = 0.1
/** Any of the thousand. */
const HOST = 777

/** Notes the longest delay of the event loop since the first SIGUSR2, when the process ends. */
const PRELOAD = `
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  process.on('SIGUSR2', () => delays.enable())
  process.on('exit', () => writeFileSync(process.env.BENCH_DELAY_FILE, String(delays.max / 1e9)))
}`

/** What people see of a thousand hosts with three mirrors each: the view of the dashboard, one of the hosts, and the command. */
export async function hosts(bench: Bench): Promise<ResultRow[]> {
  await using opened = await openBenchLedger(bench.workspace)
  await makeLargeFleet(opened.database, {
    mirror: mirror('papers'),
    problem: problem('papers', 'a.md', 'a'),
    run: run(1),
  })
  const home = bench.workspace.fresh('home')
  const papers = join(home, 'Papers')
  const directory = join(home, 'config', 'shelfd')
  for (const path of [papers, directory]) mkdirSync(path, { recursive: true })
  const fleet = fleetSection(await clientAddress(opened.database), home)
  writeFileSync(join(directory, 'config.yaml'), stringify({ mirrors: [{ path: papers, library: 'Bench' }], fleet }))
  const env = shelfdEnvironment(home, bench.service.url)
  return [...(await ofDashboard(bench, home, env)), await ofCommand(bench, env)]
}

async function ofDashboard(
  { program, options }: Bench,
  home: string,
  env: Record<string, string>,
): Promise<ResultRow[]> {
  const delayFile = join(home, 'delay')
  const preload = `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`
  const around = { ...env, NODE_OPTIONS: preload, BENCH_DELAY_FILE: delayFile }
  const command = [program, 'dashboard', '--json']
  const child = spawn(process.execPath, command, { env: around, cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  await using ending = endWithUs(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  const { call } = await signIn(JSON.parse(line).url)
  const view = () => call('hosts', { text: '', offset: 0 })
  const { total } = await view()
  if (total !== 1_000) throw new Error(`The dashboard shows ${total} hosts`)
  await call('host', { hostId: HOST })
  child.kill('SIGUSR2')
  const list = await timesOf(options.runs, view)
  const one = await timesOf(options.runs, () => call('host', { hostId: HOST }))
  await ending[Symbol.asyncDispose]()
  const longest = Number(readFileSync(delayFile, 'utf8'))
  return [
    limited('dashboard: the view of 1,000 hosts × 3 mirrors', median(list), MAX_SECONDS),
    limited('dashboard: one of these hosts', median(one), MAX_SECONDS),
    limited('its longest piece of work', longest, MAX_WORK_SECONDS),
  ]
}

async function ofCommand({ program, options }: Bench, env: Record<string, string>): Promise<ResultRow> {
  const command = [process.execPath, program, 'status', '--fleet']
  const times = await timesOf(options.runs, () => runProcess(command, { env, quiet: true }))
  return limited('status --fleet of them, the whole process', median(times), MAX_SECONDS)
}

/** Seconds of each of the calls, of which one comes before unmeasured. */
async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  await work()
  const times: number[] = []
  while (times.length < count) {
    const startMs = performance.now()
    await work()
    times.push((performance.now() - startMs) / 1_000)
  }
  return times
}

function limited(work: string, seconds: number, most: number): ResultRow {
  return resultRow({ work, ours: showSeconds(seconds), target: `≤ ${most} s`, verdict: verdict(seconds <= most) })
}
