import { nameOf } from '../../foundation/files/paths.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatDuration, formatSize } from '../../foundation/text/units.ts'
import type { Outage } from '../../remote/policies/outage.ts'
import type { Progress, UploadProgress } from '../../sync/progress.ts'
import { type CommandContext, describeService } from '../context.ts'
import { displayWidth, truncateToWidth } from './layout.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 10_000
const PLAIN_COLUMNS = 160

export async function withProgress<T>(context: CommandContext, progress: Progress, work: () => Promise<T>): Promise<T> {
  const { messages } = context
  if (context.quiet) return work()
  const isDrawn = context.io.isTerminal.stderr
  const rates = new RateReader(progress, describeService(context.settings))
  let announcedAtMs = 0
  const show = () => {
    if (progress.phase === 'asking') return
    const now = rates.read()
    if (isDrawn) messages.draw(describeProgress(progress, now, messages.width))
    else if (now.elapsedMs - announcedAtMs >= PLAIN_LINE_MS) {
      announcedAtMs = now.elapsedMs
      context.announce(describeProgress(progress, now, PLAIN_COLUMNS))
    }
  }
  const timer = setInterval(show, REDRAW_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    messages.clear()
  }
}

class RateReader {
  readonly #progress: Progress
  readonly #beginning: string
  readonly #startMs = performance.now()
  readonly #sent = new RecentRate()
  readonly #hashed = new RecentRate()

  constructor(progress: Progress, beginning: string) {
    this.#progress = progress
    this.#beginning = beginning
  }

  read(): Rates {
    const { bytesSent, bytesHashed } = this.#progress
    const nowMs = performance.now()
    this.#sent.record(bytesSent, nowMs)
    this.#hashed.record(bytesHashed, nowMs)
    return {
      beginning: this.#beginning,
      elapsedMs: nowMs - this.#startMs,
      sentPerSecond: this.#sent.perSecond(bytesSent, nowMs),
      hashedPerSecond: this.#hashed.perSecond(bytesHashed, nowMs),
    }
  }
}

export interface Rates {
  readonly elapsedMs: number
  /** Recent bytes per second; undefined while unknown. */
  readonly sentPerSecond: number | undefined
  readonly hashedPerSecond: number | undefined
  /** The activity that a run waits for before its first mirror begins: `opening the library`. */
  readonly beginning: string
}

/** Columns of the bar; with fewer than `fewest` it is omitted. Parts of a higher rank make room for it. */
const BAR = { most: 24, fewest: 8, rank: 4 }
/** Smaller files are sent before their percent can be read. */
const PERCENT_FROM_BYTES = 2 ** 20
const MAX_NAME = 28

export function describeProgress(progress: Progress, rates: Rates, width: number): string {
  const head = [escapeText(progress.mirror), nameActivity(progress, rates)].filter((part) => part !== '').join('  ')
  const parts = partsOf(progress, rates).filter(({ text }) => text !== '')
  const room = width - displayWidth(head) - 2
  const text = joinFitting(parts, room)
  const bar = progress.outage ? '' : drawBar(doneShare(progress), Math.min(BAR.most, room - displayWidth(text) - 2))
  return [head, bar, text].filter((part) => part !== '').join('  ')
}

export function describeTimeLeft(leftMs: number): string {
  const seconds = Math.max(1, Math.ceil(leftMs / 1_000))
  if (seconds <= 10) return `${seconds} s left`
  if (seconds <= 60) return `${roundUp(seconds, 5)} s left`
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= 90) return `${minutes} min left`
  return `${roundUp(minutes, 30) / 60} h left`
}

function nameActivity({ phase, mirror, outage }: Progress, { beginning }: Rates): string {
  if (outage) return `waiting for ${outage.origin}`
  return phase === 'starting' && mirror === '' ? beginning : PHASE_NAMES[phase]
}

const PHASE_NAMES: Readonly<Record<Progress['phase'], string>> = {
  starting: 'starting',
  turn: 'waiting for another scan or sync',
  scanning: 'scanning',
  ledger: 'waiting for the ledger of hosts',
  asking: 'asking',
  directories: 'creating directories',
  uploading: 'uploading',
  hosts: 'waiting for other hosts',
  ingestion: 'processing',
  finished: 'finishing',
  embedding: 'embedding',
}

/** Parts of the highest rank are left out first. */
interface Part {
  readonly text: string
  readonly rank: number
}

function partsOf(progress: Progress, { elapsedMs, sentPerSecond, hashedPerSecond }: Rates): Part[] {
  const { filesScanned, directoriesDone, directoriesTotal, inIngestion, searchable, outage } = progress
  const elapsed = { text: formatDuration(elapsedMs), rank: 3 }
  if (outage) return [{ text: describeWait(outage), rank: 0 }, elapsed]
  switch (progress.phase) {
    case 'starting':
    case 'turn':
    case 'ledger':
    case 'asking':
    case 'hosts':
    case 'finished':
      return [elapsed]
    case 'scanning':
      return [
        { text: counted(filesScanned, 'file'), rank: 0 },
        { text: describeReading(progress, hashedPerSecond), rank: 2 },
        elapsed,
      ]
    case 'directories':
      return [{ text: `${directoriesDone} of ${directoriesTotal}`, rank: 0 }, elapsed]
    case 'embedding':
      return [
        { text: `${progress.documentsEmbedded} of ${counted(progress.documentsToEmbed, 'document')}`, rank: 0 },
        { text: 'Ctrl-C leaves the rest to later', rank: 2 },
        elapsed,
      ]
    case 'uploading':
      return uploadParts(progress, sentPerSecond)
    case 'ingestion':
      return [
        { text: `${inIngestion} being processed`, rank: 0 },
        { text: `${searchable} searchable`, rank: 1 },
        { text: shortName(progress.inIngestionLongest), rank: 4 },
        elapsed,
      ]
  }
}

function uploadParts(progress: Progress, sentPerSecond: number | undefined): Part[] {
  const { contentsSent, contentsTotal, bytesSent, bytesTotal, inIngestion } = progress
  const bytesLeft = bytesTotal - bytesSent
  const isMoving = sentPerSecond !== undefined && sentPerSecond > 0
  return [
    { text: `${contentsSent} of ${contentsTotal}`, rank: 0 },
    { text: describeBytes(bytesSent, bytesTotal), rank: 1 },
    { text: isMoving ? `${formatSize(Math.round(sentPerSecond))}/s` : '', rank: 4 },
    { text: isMoving && bytesLeft > 0 ? describeTimeLeft((bytesLeft / sentPerSecond) * 1_000) : '', rank: 2 },
    { text: describeUpload(progress.uploads), rank: 3 },
    { text: inIngestion === 0 ? '' : `${inIngestion} being processed`, rank: 5 },
  ]
}

function describeReading({ filesHashed, bytesHashed }: Progress, perSecond: number | undefined): string {
  if (bytesHashed === 0) return ''
  const what = filesHashed === 0 ? 'reading' : `${counted(filesHashed, 'file')} read`
  return perSecond === undefined ? what : `${what} at ${formatSize(Math.round(perSecond))}/s`
}

function describeBytes(bytes: number, total: number): string {
  const [done = '', of = ''] = [formatSize(bytes), formatSize(total)]
  const unit = of.slice(of.indexOf(' '))
  return `${done.endsWith(unit) ? done.slice(0, -unit.length) : done} of ${of}`
}

function describeUpload(uploads: readonly UploadProgress[]): string {
  const [first] = uploads.toSorted((a, b) => b.sizeBytes - a.sizeBytes)
  if (!first) return ''
  const { path, sizeBytes, bytesSent } = first
  const name = shortName(path)
  return sizeBytes < PERCENT_FROM_BYTES ? name : `${name} ${Math.floor((bytesSent / sizeBytes) * 100)} %`
}

function shortName(path: string): string {
  return path === '' ? '' : truncateToWidth(escapeText(nameOf(path)), MAX_NAME)
}

/** Has no countdown: the message of the outage, above this line, has the times. */
function describeWait({ cause }: Outage): string {
  return escapeText(cause)
}

function joinFitting(parts: readonly Part[], room: number): string {
  const shown = (mostRank: number) => parts.flatMap(({ text, rank }) => (rank <= mostRank ? [text] : [])).join(' · ')
  let mostRank = Math.max(0, ...parts.map(({ rank }) => rank))
  const roomFor = (rank: number) => (rank > BAR.rank ? room - BAR.fewest - 2 : room)
  while (mostRank > 0 && displayWidth(shown(mostRank)) > roomFor(mostRank)) mostRank -= 1
  return shown(mostRank)
}

/** 0 to 1; undefined when the total is unknown. */
function doneShare(progress: Progress): number | undefined {
  const { phase, bytesSent, bytesTotal, contentsSent, contentsTotal, inIngestion, searchable } = progress
  if (phase === 'uploading') return bytesTotal > 0 ? bytesSent / bytesTotal : share(contentsSent, contentsTotal)
  if (phase === 'embedding') return share(progress.documentsEmbedded, progress.documentsToEmbed)
  if (phase === 'directories') return share(progress.directoriesDone, progress.directoriesTotal)
  return phase === 'ingestion' ? share(searchable, searchable + inIngestion) : undefined
}

function share(done: number, total: number): number | undefined {
  return total === 0 ? undefined : done / total
}

function drawBar(done: number | undefined, columns: number): string {
  if (done === undefined || columns < BAR.fewest) return ''
  const halves = Math.round(Math.min(1, Math.max(0, done)) * columns * 2)
  const full = '━'.repeat(Math.floor(halves / 2))
  const half = halves % 2 === 1 ? '╸' : ''
  return `${full}${half}${'─'.repeat(columns - full.length - half.length)}`
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step
}

/** Long enough for a steady estimate, short enough to follow a connection that slows down. */
const WINDOW_MS = 15_000
const SAMPLE_MS = 250
/** Shorter measurements are too imprecise for the time left. */
const MIN_MS = 1_000

interface Sample {
  readonly atMs: number
  readonly amount: number
}

export class RecentRate {
  #samples: Sample[] = []

  record(amount: number, atMs: number): void {
    // Drops samples above the present amount, since a failed upload decreases it, and those from before the first progress.
    const isOfUse = (sample: Sample) => amount > 0 && sample.amount <= amount && atMs - sample.atMs <= WINDOW_MS
    this.#samples = this.#samples.filter(isOfUse)
    const last = this.#samples.at(-1)
    if (last === undefined || atMs - last.atMs >= SAMPLE_MS) this.#samples.push({ atMs, amount })
  }

  perSecond(amount: number, atMs: number): number | undefined {
    const first = this.#samples[0]
    if (first === undefined || atMs - first.atMs < MIN_MS) return undefined
    return ((amount - first.amount) / (atMs - first.atMs)) * 1_000
  }
}
