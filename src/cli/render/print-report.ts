import { chooseKnown } from '../../app/mirrors/choose-known.ts'
import { settingsOfRow } from '../../app/mirrors/choose-mirrors.ts'
import { describeInactive, listRoster } from '../../app/mirrors/mirror-roster.ts'
import { messageOf, ShelfdError } from '../../foundation/errors.ts'
import { escapeText, terminalSafeJson } from '../../foundation/text/safe-text.ts'
import { IN_DOUBT } from '../../rules/doubts/react-to-doubt.ts'
import { describeKinds } from '../../rules/ingestion/without-text.ts'
import { CHECKED_CLASSES, REPORT_CLASSES, type ReportClass } from '../../rules/report-class.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { type MirrorReport, type ReportContext, type ReportedMirror, report } from '../../sync/report/report.ts'
import type { ReportEntry } from '../../sync/report/report-entry.ts'
import type { CommandContext } from '../context.ts'

export type ReportFormat = 'text' | 'combined' | 'json'

export interface ReportOptions {
  readonly format: ReportFormat
  /** Undefined: every class but `ignored`. */
  readonly only: ReadonlySet<ReportClass> | undefined
  readonly isOffline: boolean
  /** Whether to include entries outside the mirror's path. */
  readonly showsAll: boolean
  /** Classes whose rows are failures, unless they were set aside. */
  readonly failOn: ReadonlySet<ReportClass>
}

const DEFAULT_OPTIONS: ReportOptions = {
  format: 'text',
  only: undefined,
  isOffline: false,
  showsAll: false,
  failOn: CHECKED_CLASSES,
}

/** How many rows of a class the text format lists; the other formats have every row. */
const TEXT_ROWS = 20

/** Prints the report; `hasFailures`: a row has a class of `failOn`, or a report on all leaves a configured mirror out. */
export async function printReport(
  context: CommandContext,
  reportContext: ReportContext,
  names: readonly string[],
  options: ReportOptions = DEFAULT_OPTIONS,
): Promise<{ readonly hasFailures: boolean }> {
  const { settings, io } = context
  const known = reportContext.store.mirrors.list()
  const rows = chooseKnown(settings, known, { words: names, cwd: io.cwd, isOffline: options.isOffline })
  const mirrors: ReportedMirror[] = rows.map((row) => ({ row, settings: settingsOfRow(settings, known, row) }))
  const misses = names.length === 0 && reportPassedOver(context, known)
  const printer = printers[options.format](context, options)
  let hasFailures = misses
  let hasBegun = false
  // Printing starts only after the first mirror, where most failures occur, so that a failed report prints nothing.
  const begin = () => {
    if (!hasBegun) printer.begin(new Date(reportContext.clock.nowMs()).toISOString())
    hasBegun = true
  }
  try {
    for await (const mirror of report(reportContext, mirrors, options)) {
      begin()
      const tally = printMirror(printer, mirror, options)
      hasFailures ||= tally.hasFailures
    }
    begin()
  } catch (error) {
    if (hasBegun) printer.end(error)
    throw error
  }
  printer.end()
  return { hasFailures }
}

/** Names the mirrors that a report on all leaves out; returns whether a configured one is among them. */
function reportPassedOver({ settings, printMessage }: CommandContext, known: readonly MirrorRow[]): boolean {
  const passedOver = listRoster(settings, known).flatMap((entry) => {
    const reason = describeInactive(entry)
    return reason === undefined || entry.replacedBy !== undefined ? [] : [{ ...entry, reason }]
  })
  const texts = passedOver.map(({ name, reason }) => `${escapeText(name)} (${escapeText(reason)})`)
  if (texts.length > 0) printMessage(`Not in this report: ${texts.join(', ')}`)
  return passedOver.some(({ configured }) => configured !== undefined)
}

interface Tally {
  readonly counts: Partial<Record<ReportClass, number>>
  elsewhere: number
  /** Number of rows without searchable text, by kind. */
  readonly withoutText: Map<string, number>
  hasFailures: boolean
}

interface Printer {
  begin(generatedAt: string): void
  beginMirror(mirror: MirrorReport): void
  entry(entry: ReportEntry): void
  endMirror(mirror: MirrorReport, tally: Tally): void
  /** Completes the output, also after a failure. */
  end(failure?: unknown): void
}

function printMirror(printer: Printer, mirror: MirrorReport, options: ReportOptions): Tally {
  const tally: Tally = { counts: {}, elsewhere: 0, withoutText: new Map(), hasFailures: false }
  printer.beginMirror(mirror)
  for (const { entry, isElsewhere, isSetAside, kindWithoutText: kind } of mirror.rows) {
    if (isElsewhere) tally.elsewhere += 1
    if (isElsewhere && !options.showsAll) continue
    if (!isWanted(entry.class, options)) continue
    tally.counts[entry.class] = (tally.counts[entry.class] ?? 0) + 1
    if (kind !== null) tally.withoutText.set(kind, (tally.withoutText.get(kind) ?? 0) + 1)
    if (options.failOn.has(entry.class) && !isSetAside) tally.hasFailures = true
    printer.entry(entry)
  }
  printer.endMirror(mirror, tally)
  return tally
}

function isWanted(reportClass: ReportClass, { only }: ReportOptions): boolean {
  return only ? only.has(reportClass) : reportClass !== 'ignored'
}

type Print = (line: string) => void

const printers: Readonly<Record<ReportFormat, (context: CommandContext, options: ReportOptions) => Printer>> = {
  text: ({ printText }, options) => textPrinter(printText, options),
  combined: ({ printText }) => combinedPrinter(printText),
  json: ({ print }) => jsonPrinter(print),
}

/** Prints the differences by class, and the counts. */
function textPrinter(print: CommandContext['printText'], options: ReportOptions): Printer {
  const shown = new Map<ReportClass, number>()
  return {
    begin: () => {},
    beginMirror: ({ name, path, library, remotePath, listing }) => {
      shown.clear()
      print(
        `${escapeText(name)}: ${escapeText(path)} ↔ ${escapeText(library.name)}:${escapeText(remotePath)} (listing ${listing})`,
        'heading',
      )
    },
    entry: (entry) => {
      if (entry.class === 'in-sync' && !options.only) return
      const count = (shown.get(entry.class) ?? 0) + 1
      shown.set(entry.class, count)
      if (count <= TEXT_ROWS || options.only) print(`  ${REPORT_CLASSES[entry.class]} ${describeEntry(entry)}`)
    },
    endMirror: (_, { counts, elsewhere, withoutText }) => {
      for (const [reportClass, sign] of Object.entries(REPORT_CLASSES)) {
        const count = countOf(counts, reportClass)
        if (count > 0) print(`  ${sign} ${String(count).padStart(8)} ${reportClass}${meaningOf(reportClass, count)}`)
      }
      const unfindable = Array.from(withoutText.values()).reduce((sum, count) => sum + count, 0)
      if (unfindable > 0) {
        const kinds = describeKinds(Object.fromEntries(withoutText))
        print(`    ${String(unfindable).padStart(8)} without searchable text (${kinds})`)
      }
      if (Object.keys(counts).length === 0) print('    nothing')
      if (elsewhere > 0) print(`    ${String(elsewhere).padStart(8)} elsewhere in the library`)
    },
    end: () => {},
  }
}

function countOf(counts: Tally['counts'], reportClass: string): number {
  return Object.entries(counts).find(([name]) => name === reportClass)?.[1] ?? 0
}

/** Prints each row as the sign of its class and its path, as rclone does. */
function combinedPrinter(print: Print): Printer {
  return {
    begin: () => {},
    beginMirror: () => {},
    entry: (entry) => print(`${REPORT_CLASSES[entry.class]} ${nameOf(entry)}`),
    endMirror: () => {},
    end: () => {},
  }
}

/** Prints one JSON document entry by entry, so that a large report needs little memory. */
function jsonPrinter(print: Print): Printer {
  let isFirstMirror = true
  let isFirstEntry = true
  let isInMirror = false
  return {
    begin: (generatedAt) => print(`{"generatedAt":${terminalSafeJson(generatedAt)},"mirrors":[`),
    beginMirror: ({ name, path, library, remotePath, listing }) => {
      const head = terminalSafeJson({ name, path, library, remotePath, listing }).slice(0, -1)
      print(`${isFirstMirror ? '' : ','}${head},"entries":[`)
      isFirstMirror = false
      isFirstEntry = true
      isInMirror = true
    },
    entry: (entry) => {
      print(`${isFirstEntry ? '' : ','}${terminalSafeJson(entry)}`)
      isFirstEntry = false
    },
    endMirror: (_, { counts, elsewhere, withoutText }) => {
      const kinds = terminalSafeJson(Object.fromEntries(withoutText))
      print(`],"counts":${terminalSafeJson(counts)},"withoutText":${kinds},"elsewhere":${elsewhere}}`)
      isInMirror = false
    },
    end: (failure) => {
      if (isInMirror) print(']}')
      print(failure === undefined ? ']}' : `],"error":${terminalSafeJson(describeFailure(failure))}}`)
    },
  }
}

/** Explains the class `superseded`, whose name is not obvious. */
function meaningOf(reportClass: string, count: number): string {
  if (reportClass !== 'superseded') return ''
  return count === 1 ? ' (an earlier version, still searchable)' : ' (earlier versions, still searchable)'
}

function describeFailure(error: unknown) {
  return { code: error instanceof ShelfdError ? error.code : 'unexpected', message: messageOf(error) }
}

function describeEntry(entry: ReportEntry): string {
  const where =
    entry.path !== null && entry.remotePaths[0] && entry.class !== 'in-sync'
      ? ` → ${escapeText(entry.remotePaths[0])}`
      : ''
  const reason = entry.reason === null ? '' : `: ${escapeText(reasonForPeople(entry.reason))}`
  return `${nameOf(entry)}${where}${reason}`
}

/** Replaces `in doubt` by words for people; formats for scripts keep it. */
function reasonForPeople(reason: string): string {
  return reason === 'in doubt' ? IN_DOUBT.message : reason
}

function nameOf(entry: ReportEntry): string {
  return escapeText(entry.path ?? entry.remotePaths[0] ?? entry.resourceId ?? '?')
}
