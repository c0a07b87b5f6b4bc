/**
 * `npm run fuzz -- --requests 20000`: sends random requests to an embedded library in a process of its own, and judges that each is
 * answered and none with a failure, that others are answered meanwhile, and that its memory does not grow; see docs/development/embedded-library.md.
 */
import fc from 'fast-check'
import { z } from 'zod'
import { ServiceClient } from '../../contract/service-client.ts'
import { type AnyRequest, anyRequest, prepareTarget, type RequestTarget, sendRaw } from '../../support/any-request.ts'
import { renderMarkdownTable } from '../bench/result-table.ts'
import { openWorkspace } from '../bench/workspace.ts'
import { describeLoad, describeMachine, print, runInstrument, wholeNumber } from '../instrument.ts'
import { readProcessUse } from '../soak/process-use.ts'
import { FILM, readFiles } from './read-files.ts'
import { startServer } from './start-server.ts'
import { quantile, type Waits, watchOthers } from './watch-others.ts'

const HANG_MS = 60_000
/** Others may wait so much longer than for a bare server on the same machine. */
const MAX_WAIT_MS = 100
/** The heap and all caches have their size after the first half; from then on memory may grow by this factor. */
const MAX_GROWTH = 1.25
const PARTS = 4
const MAX_SHOWN = 1_500

const OPTIONS = z.object({
  requests: wholeNumber(1, 10_000_000).default(20_000),
  seed: wholeNumber(1, 2 ** 31).default(() => Date.now() % 2 ** 31),
  parallel: wholeNumber(1, 64).default(4).describe('requests under way at a time'),
  documents: z
    .string()
    .optional()
    .describe('a folder of documents that are spoiled and uploaded; else a PDF and a film'),
})

/** What went wrong with the requests; each is printed at once. */
interface Account {
  readonly statuses: Map<number, number>
  faults: number
}

async function send(asked: AnyRequest, target: RequestTarget, account: Account): Promise<void> {
  const late = AbortSignal.timeout(HANG_MS)
  const hangs = new Promise<undefined>((resolve) => late.addEventListener('abort', () => resolve(undefined)))
  const answer = await Promise.race([sendRaw(asked, target), hangs])
  const status = answer?.status ?? 0
  account.statuses.set(status, (account.statuses.get(status) ?? 0) + 1)
  if (answer && status >= 200 && status < 500) return
  account.faults += 1
  const { file: _, body, ...shown } = asked
  const sent = `${JSON.stringify(shown)} ${JSON.stringify(body)}`.slice(0, MAX_SHOWN)
  print(`${answer ? `answered with ${status} ${answer.body.slice(0, 200)}` : 'not answered'}: ${sent}`)
}

/** Sends the requests, `parallel` at a time. */
async function sendAll(requests: readonly AnyRequest[], parallel: number, target: RequestTarget, account: Account) {
  const left = requests.values()
  const work = async () => {
    for (const asked of left) await send(asked, target, account)
  }
  await Promise.all(Array.from({ length: parallel }, work))
}

function judge(account: Account, waits: Waits, memory: readonly number[]): boolean {
  print(renderWaits(waits))
  print(`memory after each part: ${memory.map((bytes) => `${Math.round(bytes / 2 ** 20)} MiB`).join(', ')}`)
  const isQuick = quantile(waits.library, 0.99) - quantile(waits.bare, 0.99) <= MAX_WAIT_MS
  const isBounded = (memory.at(-1) ?? 0) <= (memory[PARTS / 2 - 1] ?? 0) * MAX_GROWTH
  print(`faults: ${account.faults}; others answered in time: ${isQuick}; memory bounded: ${isBounded}`)
  const isMet = account.faults === 0 && isQuick && isBounded
  print(`verdict: ${isMet ? 'met' : 'not met'}`)
  return isMet
}

/** Returns how long someone else waited for an answer, beside the same wait for a bare server at the same time. */
function renderWaits({ library, bare }: Waits): string {
  const shares = { median: 0.5, '99 of 100': 0.99, longest: 1 }
  const rows = Object.entries(shares).map(([name, share]) => {
    const [ours, theirs] = [library, bare].map((sorted) => quantile(sorted, share))
    return [name, ...[ours, theirs, (ours ?? 0) - (theirs ?? 0)].map((ms) => `${(ms ?? 0).toFixed(1)} ms`)]
  })
  return renderMarkdownTable([[`${library.length} waits of others`, 'library', 'bare server', 'difference'], ...rows])
}

await runInstrument('fuzz', OPTIONS, async (options) => {
  using workspace = openWorkspace('fuzz')
  const files = readFiles(options.documents)
  await using library = await startServer('library', workspace.fresh('library'))
  await using bare = await startServer('bare')
  const client = new ServiceClient(library)
  const target = await prepareTarget(client, { ...library, film: FILM })
  print(`${describeMachine()}; load before ${describeLoad()}`)
  print(`${options.requests} requests, seed ${options.seed}, ${files.length} files to spoil`)
  const account: Account = { statuses: new Map(), faults: 0 }
  const memory: number[] = []
  const others = watchOthers({ library: { url: library.url, token: library.token }, bare: { url: bare.url } })
  for (let part = 0; part < PARTS; part += 1) {
    const numRuns = Math.ceil(options.requests / PARTS)
    const requests = fc.sample(anyRequest(files, Number.POSITIVE_INFINITY), { numRuns, seed: options.seed + part })
    await sendAll(requests, options.parallel, target, account)
    await library.settled()
    memory.push(readProcessUse(library.pid).residentBytes)
  }
  const waits = await others.stop()
  const counts = [...account.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status || 'none'}`)
  print(`answers: ${counts.join(', ')}`)
  print(`longest without an answer to anyone: ${library.longestBusyMs().toFixed(0)} ms of processor time`)
  print(`load after ${describeLoad()}`)
  return judge(account, waits, memory)
})
