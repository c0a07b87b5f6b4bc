import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { saveFile, warnOfForeignDirectory } from '../../../app/files/user-files.ts'
import { settingsOfRow } from '../../../app/mirrors/choose-mirrors.ts'
import { chooseStored, nothingMirrored } from '../../../app/mirrors/choose-stored.ts'
import { describeInactive, listRoster } from '../../../app/mirrors/mirror-roster.ts'
import type { ShownState } from '../../../contract/report-classes.ts'
import { counted, escapeLines, escapeText } from '../../../foundation/text/safe-text.ts'
import { isoTime } from '../../../foundation/text/times.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { CHECKED_CLASSES, type ReportClass } from '../../../rules/report-class.ts'
import type { MirrorRow } from '../../../store/tables/mirrors.ts'
import { type MirrorReport, type ReportContext, type ReportedMirror, report } from '../../../sync/report/report.ts'
import type { PlainFiles, ReportEntry, ReportRow } from '../../../sync/report/report-entry.ts'
import type { Verification } from '../../../sync/report/verify-contents.ts'
import type { CommandContext } from '../../context.ts'
import { createHtmlPrinter } from './html-printer.ts'
import type { Printed, ReportFormat, ReportPrinter, Tally } from './report-printer.ts'
import {
  createCombinedPrinter,
  createCsvPrinter,
  createJsonPrinter,
  createMarkdownPrinter,
  createTextPrinter,
} from './text-printers.ts'

const CHUNK_LENGTH = 65_536
type Piece = NonNullable<Printed>

const VERIFYING_LINE_MS = 10_000
const LOOKED_AT: ReadonlySet<ReportFormat> = new Set(['text', 'combined'])

export interface ReportOptions {
  readonly format: ReportFormat
  /** Undefined: every class but `ignored`. */
  readonly only: ReadonlySet<ShownState> | undefined
  readonly isOffline: boolean
  readonly showsAll: boolean
  /** Rows of these classes are failures, except `set-aside` and `unsupported` ones. */
  readonly failOn: ReadonlySet<ReportClass>
  readonly verifies: boolean
  readonly isQuiet: boolean
}

const DEFAULT_OPTIONS: ReportOptions = {
  format: 'text',
  only: undefined,
  isOffline: false,
  showsAll: false,
  failOn: CHECKED_CLASSES,
  verifies: false,
  isQuiet: false,
}

const PRINTERS: Readonly<Record<ReportFormat, (options: { readonly listsAll: boolean }) => ReportPrinter>> = {
  text: createTextPrinter,
  combined: createCombinedPrinter,
  json: createJsonPrinter,
  csv: createCsvPrinter,
  html: createHtmlPrinter,
  markdown: createMarkdownPrinter,
}

export interface ReportOutcome {
  /** A row has a class of `failOn`, or a report on all mirrors leaves a configured one out. */
  hasFailures: boolean
  /** A sent content is missing or differs in the library, or could not be checked. */
  hasFaults: boolean
}

export async function printReport(
  context: CommandContext,
  reportContext: ReportContext,
  names: readonly string[],
  options: ReportOptions = DEFAULT_OPTIONS,
): Promise<ReportOutcome> {
  const outcome = { hasFailures: false, hasFaults: false }
  const print = LOOKED_AT.has(options.format) ? context.printText : context.print
  const kept: Piece[] = []
  for await (const piece of renderReport(context, { reportContext, names, options, outcome })) {
    kept.push(piece)
    if (options.isQuiet && !outcome.hasFailures && !outcome.hasFaults) continue
    for (const each of kept.splice(0)) print(...each)
  }
  if (outcome.hasFailures || outcome.hasFaults) for (const piece of kept) print(...piece)
  return outcome
}

/** Saves the report; the file appears, or replaces an older one, only when it is complete. */
export async function saveReport(
  context: CommandContext,
  reportContext: ReportContext,
  names: readonly string[],
  { file, ...options }: ReportOptions & { readonly file: string },
): Promise<ReportOutcome> {
  const outcome = { hasFailures: false, hasFaults: false }
  const rendered = renderReport(context, { reportContext, names, options, outcome })
  await saveFile(file, chunks(rendered, context.redactor.redact), { force: true, signal: context.signal })
  await warnOfForeignDirectory(context.printMessage, dirname(file))
  return outcome
}

async function* chunks(rendered: AsyncIterable<Piece>, redact: (text: string) => string) {
  for await (const [text] of rendered) yield `${redact(escapeLines(text))}\n`
}

interface RenderInput {
  readonly reportContext: ReportContext
  readonly names: readonly string[]
  readonly options: ReportOptions
  readonly outcome: ReportOutcome
}

/** Yields the pieces of the report. `outcome` is complete only at the end. */
async function* renderReport(context: CommandContext, { reportContext, names, options, outcome }: RenderInput) {
  const { settings, io } = context
  const storedMirrors = reportContext.store.mirrors.list()
  const rows = chooseStored(settings, storedMirrors, { words: names, cwd: io.cwd, isOffline: options.isOffline })
  const mirrors: ReportedMirror[] = rows.map((row) => ({ row, settings: settingsOfRow(settings, storedMirrors, row) }))
  outcome.hasFailures = names.length === 0 && reportPassedOver(context, storedMirrors)
  // Otherwise a check that compared nothing would succeed.
  if (rows.length === 0) throw nothingMirrored(storedMirrors)
  const printer = PRINTERS[options.format]({ listsAll: options.only !== undefined })
  const generatedAt = isoTime(reportContext.clock.nowMs())
  const host = settings.fleet?.host ?? hostname()
  // Most failures occur before the first mirror. Nothing is printed until then, so a report that fails so early prints nothing.
  let hasBegun = false
  try {
    const onVerified = options.verifies ? announceVerification(context, reportContext) : undefined
    for await (const mirror of report(reportContext, mirrors, { ...options, onVerified })) {
      if (!hasBegun) yield* given(printer.begin(generatedAt, host))
      hasBegun = true
      const found = { hasFailures: false, hasFaults: false }
      const pieces = gather(renderMirror(printer, mirror, options, found))
      const rendered = options.isQuiet ? [...pieces] : pieces
      if (!options.isQuiet || found.hasFailures || found.hasFaults) yield* rendered
      outcome.hasFailures ||= found.hasFailures
      outcome.hasFaults ||= found.hasFaults
    }
    if (!hasBegun) yield* given(printer.begin(generatedAt, host))
    hasBegun = true
  } catch (error) {
    if (hasBegun) yield* given(printer.end(error))
    throw error
  }
  yield* given(printer.end())
}

function* renderMirror(printer: ReportPrinter, mirror: MirrorReport, options: ReportOptions, outcome: ReportOutcome) {
  const ahead = createTally()
  if (printer.countsFirst) for (const _ of countedRows(mirror.differingRows, options, ahead));
  yield* given(printer.beginMirror(mirror, ahead))
  const tally = createTally()
  const needsInSync = isWanted('in-sync', options) && !printer.omitsInSync
  for (const { entry, state } of countedRows(needsInSync ? mirror.rows : mirror.differingRows, options, tally)) {
    yield* given(printer.entry(entry, state))
  }
  yield* given(printer.endMirror(mirror, tally))
  outcome.hasFailures = tally.hasFailures
  outcome.hasFaults = (mirror.verification?.faults.length ?? 0) > 0
}

function* given(printed: Printed): Generator<Piece> {
  if (printed) yield printed
}

/** Joins lines to larger texts. If the pieces fail, yields the text before the failure, then throws it. */
function* gather(pieces: Iterable<Piece>): Generator<Piece> {
  let texts: string[] = []
  let length = 0
  const take = (): Piece => {
    const text = texts.join('\n')
    texts = []
    length = 0
    return [text, 'line']
  }
  try {
    for (const piece of pieces) {
      const [text, style] = piece
      if (style !== 'line') {
        if (texts.length > 0) yield take()
        yield piece
        continue
      }
      texts.push(text)
      length += text.length
      if (length >= CHUNK_LENGTH) yield take()
    }
  } catch (error) {
    if (texts.length > 0) yield take()
    throw error
  }
  if (texts.length > 0) yield take()
}

function createTally(): Tally {
  return {
    counts: {},
    elsewhere: 0,
    states: {},
    withoutText: new Map(),
    failedCopies: 0,
    hasFailures: false,
  }
}

function* countedRows(
  rows: Iterable<ReportRow | PlainFiles>,
  options: ReportOptions,
  tally: Tally,
): Generator<{ readonly entry: ReportEntry; readonly state: ShownState }> {
  for (const row of rows) {
    if ('plainFiles' in row) {
      if (!isWanted('in-sync', options)) continue
      addToTally(tally, { entry: { class: 'in-sync' }, state: 'in-sync' }, row.plainFiles)
      if (row.plainFiles > 0 && options.failOn.has('in-sync')) tally.hasFailures = true
      continue
    }
    const { entry, isElsewhere, state, kindWithoutText: kind } = row
    const failsNothing = state === 'set-aside' || state === 'unsupported'
    if (isElsewhere) tally.elsewhere += 1
    if (isElsewhere && !options.showsAll) continue
    if (!(isWanted(entry.class, options) || options.only?.has(state)) || (options.isQuiet && failsNothing)) continue
    if (kind !== null) tally.withoutText.set(kind, (tally.withoutText.get(kind) ?? 0) + 1)
    if (entry.class === 'needs-attention' && entry.duplicateOf !== null) tally.failedCopies += 1
    addToTally(tally, row, 1)
    if (!failsNothing && options.failOn.has(entry.class)) tally.hasFailures = true
    yield { entry, state }
  }
}

interface Counted extends Pick<ReportRow, 'state'> {
  readonly entry: Pick<ReportEntry, 'class'>
}

function addToTally({ counts, states }: Tally, { entry, state }: Counted, rows: number): void {
  if (rows === 0) return
  counts[entry.class] = (counts[entry.class] ?? 0) + rows
  states[state] = (states[state] ?? 0) + rows
}

function isWanted(reportClass: ReportClass, { only }: ReportOptions): boolean {
  return only ? only.has(reportClass) : reportClass !== 'ignored'
}

/** Returns a callback that announces progress at intervals, because downloads may take hours. */
function announceVerification({ announce }: CommandContext, { clock }: ReportContext) {
  let announcedAtMs = clock.monotonicMs()
  return ({ name }: MirrorRow, { contents, bytes }: Verification) => {
    if (clock.monotonicMs() - announcedAtMs < VERIFYING_LINE_MS) return
    announcedAtMs = clock.monotonicMs()
    announce(`${escapeText(name)}: ${counted(contents, 'file')} (${formatSize(bytes)}) downloaded and compared so far`)
  }
}

/** Names the mirrors that the report leaves out, and returns whether a configured one is among them. */
function reportPassedOver(
  { settings, quiet, printMessage, logger }: CommandContext,
  storedMirrors: readonly MirrorRow[],
): boolean {
  const passedOver = listRoster(settings, storedMirrors).flatMap((entry) => {
    const reason = describeInactive(entry)
    return reason === undefined || entry.replacedBy !== undefined ? [] : [{ ...entry, reason }]
  })
  const texts = passedOver.map(({ name, reason }) => `${escapeText(name)} (${escapeText(reason)})`)
  if (texts.length > 0) printMessage(`Not in this report: ${texts.join(', ')}`)
  const isLacking = passedOver.some(({ configured }) => configured !== undefined)
  // With -q no message is printed, so the log says why the check fails.
  if (quiet && isLacking) logger.error('not all mirrors are in this report', { without: texts.join(', ') })
  return isLacking
}
