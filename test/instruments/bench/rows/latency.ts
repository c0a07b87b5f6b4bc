import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isIdle } from '../../../support/daemon.ts'
import type { Bench } from '../bench.ts'
import { daemonHome, startBenchDaemon } from '../bench-daemon.ts'
import { type ResultRow, resultRow, showSeconds, verdict } from '../result-table.ts'

const DIRECTORIES = 200
const FILES_EACH = 50
/** The default of the setting. */
const SETTLE_SECONDS = 5
/** For 99 of 100, by how many are saved in a second. */
const MOST_SECONDS = { 20: 0.1, 1000: 0.25 } as const
const SAVING_SECONDS = 15
const TICK_MS = 10

/** Returns how long after a file was saved its upload begins, `settle` taken off: a few saves, and a thousand a second. */
export async function latency(bench: Bench): Promise<ResultRow[]> {
  const tree = makeTree(bench.workspace.fresh('saves'))
  await using started = await startBenchDaemon(bench, daemonHome(bench, tree))
  const rows: ResultRow[] = []
  for (const perSecond of [20, 1_000] as const) {
    await bench.service.takeBegun()
    const saved = await saveFiles(tree, perSecond)
    await started.daemon.until('idle', isIdle)
    rows.push(...rowsOf(perSecond, delaysOf(saved, await bench.service.takeBegun())))
  }
  return rows
}

/** Seconds from each save to the beginning of its upload, in ascending order. */
function delaysOf(saved: ReadonlyMap<string, number>, begun: Readonly<Record<string, number>>): number[] {
  const delays = [...saved].map(([name, savedMs]) => ((begun[name] ?? Number.POSITIVE_INFINITY) - savedMs) / 1_000)
  return delays.toSorted((a, b) => a - b)
}

function rowsOf(perSecond: keyof typeof MOST_SECONDS, delays: readonly number[]): ResultRow[] {
  return ([0.5, 0.99, 1] as const).map((share) => {
    const beyond = (delays[Math.ceil(delays.length * share) - 1] ?? Number.NaN) - SETTLE_SECONDS
    const isTarget = share === 0.99
    const most = MOST_SECONDS[perSecond]
    return resultRow({
      work: `saved to upload begun beyond settle, ${perSecond} saves a second: ${NAMES[share]}`,
      ours: showSeconds(beyond),
      ...(isTarget && { target: `≤ ${showSeconds(most)}`, verdict: verdict(beyond <= most) }),
    })
  })
}

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
