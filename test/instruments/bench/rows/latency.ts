import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isIdle } from '../../../support/daemon.ts'
import type { Bench } from '../bench.ts'
import { daemonHome, startBenchDaemon } from '../bench-daemon.ts'
import { clientAddress, fleetSection, openBenchLedger } from '../bench-ledger.ts'
import { type ResultRow, resultRow, showSeconds, verdict } from '../result-table.ts'

const DIRECTORIES = 200
const FILES_EACH = 50
/** The default of the setting. */
const SETTLE_SECONDS = 5
/** For 99 of 100, by how many are saved in a second. */
const MAX_SECONDS = { 20: 0.1, 1000: 0.25 } as const
/** What a ledger may add. */
const MAX_SHARED_MS = 20
const SAVING_SECONDS = 15
const TICK_MS = 10

/**
 * Returns how long after a file was saved its upload begins, `settle` taken off: a few saves, and a thousand a second; a few also of a host
 * that shares a ledger.
 */
export async function latency(bench: Bench): Promise<ResultRow[]> {
  const [few = [], many = []] = await measureDelays(bench, [20, 1_000])
  await using ledger = await openBenchLedger(bench.workspace)
  const address = await clientAddress(ledger.database)
  const [shared = []] = await measureDelays(bench, [20], { fleet: fleetSection(address, bench.workspace.path) })
  return [...rowsOf(20, few), ...rowsOf(1_000, many), ...SHARED_SHARES.map((share) => sharedRow(share, shared, few))]
}

/** The delays of saves at each rate, by a daemon with the default settings and `more`. */
async function measureDelays(bench: Bench, rates: readonly number[], more: object = {}): Promise<number[][]> {
  const tree = makeTree(bench.workspace.fresh('saves'))
  await using started = await startBenchDaemon(bench, daemonHome(bench, tree, more))
  const all: number[][] = []
  for (const perSecond of rates) {
    await bench.service.takeBegun()
    const saved = await saveFiles(tree, perSecond)
    await started.daemon.until('idle', isIdle)
    all.push(delaysOf(saved, await bench.service.takeBegun()))
  }
  return all
}

/** Seconds from each save to the beginning of its upload, in ascending order. */
function delaysOf(saved: ReadonlyMap<string, number>, begun: Readonly<Record<string, number>>): number[] {
  const delays = [...saved].map(([name, savedMs]) => ((begun[name] ?? Number.POSITIVE_INFINITY) - savedMs) / 1_000)
  return delays.toSorted((a, b) => a - b)
}

function rowsOf(perSecond: keyof typeof MAX_SECONDS, delays: readonly number[]): ResultRow[] {
  return SHARES.map((share) => {
    const beyond = quantile(delays, share) - SETTLE_SECONDS
    const isTarget = share === 0.99
    const most = MAX_SECONDS[perSecond]
    return resultRow({
      work: `saved to upload begun beyond settle, ${perSecond} saves a second: ${NAMES[share]}`,
      ours: showSeconds(beyond),
      ...(isTarget && { target: `≤ ${showSeconds(most)}`, verdict: verdict(beyond <= most) }),
    })
  })
}

function sharedRow(share: keyof typeof NAMES, shared: readonly number[], alone: readonly number[]): ResultRow {
  const moreMs = (quantile(shared, share) - quantile(alone, share)) * 1_000
  return resultRow({
    work: `with a ledger, 20 saves a second: ${NAMES[share]}`,
    ours: `${moreMs.toFixed(0)} ms more`,
    target: `≤ ${MAX_SHARED_MS} ms more`,
    verdict: verdict(moreMs <= MAX_SHARED_MS),
  })
}

/** Of times in ascending order. */
function quantile(times: readonly number[], share: number): number {
  return times[Math.ceil(times.length * share) - 1] ?? Number.NaN
}

const SHARES = [0.5, 0.99, 1] as const
const SHARED_SHARES = [0.5, 0.99] as const
const NAMES = { 0.5: 'median', 0.99: '99th percentile', 1: 'longest' } as const

function makeTree(root: string): string {
  for (let at = 0; at < DIRECTORIES; at += 1) {
    mkdirSync(join(root, `d${at}`), { recursive: true })
    for (let file = 0; file < FILES_EACH; file += 1) {
      const name = `old-${at}-${file}.md`
      writeFileSync(join(root, `d${at}`, name), `# ${name}\n`)
    }
  }
  return root
}

/** Saves files, each once, half of them new; gives when each was saved, in milliseconds since 1970. */
async function saveFiles(root: string, perSecond: number): Promise<Map<string, number>> {
  const saved = new Map<string, number>()
  const startMs = performance.now()
  const count = perSecond * SAVING_SECONDS
  while (saved.size < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startMs) / 1_000) * perSecond))
    while (saved.size < due) save(root, perSecond, saved)
    await sleep(TICK_MS)
  }
  return saved
}

function save(root: string, perSecond: number, saved: Map<string, number>): void {
  const number = saved.size
  const directory = number % DIRECTORIES
  const old = Math.floor(number / DIRECTORIES)
  const isNew = old % 2 === 0 || old / 2 >= FILES_EACH
  const name = isNew ? `new-${perSecond}-${number}.md` : `old-${directory}-${(old - 1) / 2}.md`
  writeFileSync(join(root, `d${directory}`, name), `# ${name} saved at a rate of ${perSecond}\n`)
  saved.set(name, performance.timeOrigin + performance.now())
}
