import type { ShownState } from '../../../contract/report-classes.ts'
import { escapeText, groupDigits, terminalSafeJson } from '../../../foundation/text/safe-text.ts'
import { formatDayAndTime } from '../../../foundation/text/times.ts'
import { REPORT_CLASSES, type ReportClass } from '../../../rules/report-class.ts'
import { describeKinds } from '../../../rules/without-text.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import { BY_URGENCY, GUIDANCE, headlineOf } from './guidance.ts'
import {
  describeFailure,
  describeVerification,
  lines,
  nameOf,
  nothing,
  type ReportPrinter,
  reasonForPeople,
  type Tally,
} from './report-printer.ts'

/** The most rows of a class that are listed, unless the user asked for classes; the other formats have every row. */
const MAX_ROWS = 20

export function createTextPrinter({ listsAll }: { readonly listsAll: boolean }): ReportPrinter {
  const shown = new Map<string, number>()
  return {
    omitsInSync: !listsAll,
    begin: nothing,
    beginMirror: ({ name, path, library, remotePath, listing }) => {
      shown.clear()
      const target = `${escapeText(library.name)}:${escapeText(remotePath)}`
      return [`${escapeText(name)}: ${escapeText(path)} ↔ ${target} (listing ${listing})`, 'heading']
    },
    entry: (entry) => {
      if (entry.class === 'in-sync' && !listsAll) return undefined
      const count = (shown.get(entry.class) ?? 0) + 1
      shown.set(entry.class, count)
      return count <= MAX_ROWS || listsAll ? lines(describeEntry(entry)) : undefined
    },
    endMirror: (mirror, tally) => {
      const { counts, elsewhere } = tally
      const verification = describeVerification(mirror)
      const classes = Object.entries(REPORT_CLASSES).flatMap(([reportClass, sign]) => {
        const count = countOf(counts, reportClass)
        if (count === 0) return []
        const parts = partsOf(reportClass, tally).filter(([part]) => part > 0)
        const isCut = (shown.get(reportClass) ?? 0) > MAX_ROWS && !listsAll
        return [
          `  ${sign} ${number(count)} ${reportClass}${reportClass === 'superseded' ? ' (still in the library)' : ''}`,
          ...(isCut ? [`    the first ${MAX_ROWS} are above; all: shelfd report --only ${reportClass}`] : []),
          ...parts.map(([part, text]) => `    ${number(part)} of them ${text}`),
        ]
      })
      return lines(
        ...classes,
        ...(classes.length > 0 ? [] : ['    nothing']),
        ...(elsewhere === 0 ? [] : [`    ${number(elsewhere)} elsewhere in the library`]),
        ...(verification === undefined ? [] : [`    ${verification}`]),
      )
    },
    end: nothing,
  }
}

/** Prints each row as the sign of its class and its path, as rclone does. */
export function createCombinedPrinter(): ReportPrinter {
  return {
    begin: nothing,
    beginMirror: nothing,
    entry: (entry) => lines(`${REPORT_CLASSES[entry.class]} ${nameOf(entry)}`),
    endMirror: nothing,
    end: nothing,
  }
}

function number(count: number): string {
  return String(count).padStart(8)
}

function countOf(counts: Partial<Record<ReportClass, number>>, reportClass: string): number {
  return Object.entries(counts).find(([name]) => name === reportClass)?.[1] ?? 0
}

/** Returns the parts of a class that other commands count separately. */
function partsOf(reportClass: string, tally: Tally): readonly (readonly [number, string])[] {
  const { failedCopies, states, withoutText } = tally
  const { 'without-text': unfindable = 0, 'set-aside': setAside = 0, unsupported = 0 } = states
  switch (reportClass) {
    case 'in-sync':
      return [[unfindable, `without searchable text (${describeKinds(Object.fromEntries(withoutText))})`]]
    case 'needs-attention':
      return [
        [failedCopies, failedCopies === 1 ? 'a copy of another' : 'copies of others'],
        [setAside, 'set aside'],
        [unsupported, unsupported === 1 ? 'a pipe, socket or device' : 'pipes, sockets or devices'],
      ]
    case 'superseded':
      return [
        [states.superseded ?? 0, 'replaced by a newer version'],
        [states.gone ?? 0, 'gone'],
        [states['left-out'] ?? 0, 'left out'],
      ]
    default:
      return []
  }
}

function describeEntry(entry: ReportEntry): string {
  const [remotePath] = entry.remotePaths
  const where = entry.path !== null && remotePath && entry.class !== 'in-sync' ? ` → ${escapeText(remotePath)}` : ''
  const reason = entry.reason === null ? '' : `: ${escapeText(reasonForPeople(entry.reason))}`
  return `  ${REPORT_CLASSES[entry.class]} ${nameOf(entry)}${where}${reason}`
}

/** Prints for each mirror a headline, the counts, and what differs. */
export function createMarkdownPrinter({ listsAll }: { readonly listsAll: boolean }): ReportPrinter {
  let hasRows = false
  return {
    countsFirst: true,
    omitsInSync: !listsAll,
    begin: (generatedAt) => lines(`# Report of ${formatDayAndTime(Date.parse(generatedAt))}`),
    beginMirror: (mirror, tally) => {
      hasRows = false
      const { name, path, library, remotePath, listing } = mirror
      const counts = tally.states
      const states = BY_URGENCY.flatMap((state) => {
        const count = counts[state]
        return count ? [`| ${GUIDANCE[state].title} | ${groupDigits(count)} |`] : []
      })
      return lines(
        `\n## ${escapeMarkdown(name)}`,
        `\n${escapeMarkdown(path)} ↔ ${escapeMarkdown(`${library.name}:${remotePath}`)} (listing ${listing})`,
        `\n**${headlineOf(tally)}**`,
        ...(states.length === 0 ? [] : ['\n| state | files |\n|---|---:|', ...states]),
      )
    },
    entry: (entry, state) => {
      if (entry.class === 'in-sync' && !listsAll) return undefined
      const head = hasRows ? [] : ['\n| state | path | in the library | why |\n|---|---|---|---|']
      hasRows = true
      return lines(...head, rowOf(entry, state))
    },
    endMirror: (mirror, { elsewhere }) => {
      const verification = describeVerification(mirror)
      return lines(
        ...(elsewhere === 0 ? [] : [`\n${groupDigits(elsewhere)} more entries elsewhere in the library.`]),
        ...(verification === undefined ? [] : [`\n${verification}.`]),
      )
    },
    end: (failure) =>
      failure === undefined
        ? undefined
        : lines(`\n**The report ended early:** ${escapeMarkdown(describeFailure(failure).message)}`),
  }
}

function rowOf(entry: ReportEntry, state: ShownState): string {
  const reason = entry.reason === null ? '' : escapeMarkdown(reasonForPeople(entry.reason))
  const where = entry.path === null ? '' : escapeMarkdown(entry.remotePaths[0] ?? '')
  return `| ${GUIDANCE[state].title} | ${escapeMarkdown(nameOf(entry))} | ${where} | ${reason} |`
}

function escapeMarkdown(text: string): string {
  return escapeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|#~]/g, '\\$&')
}

export function createJsonPrinter(): ReportPrinter {
  let isFirstMirror = true
  let isFirstEntry = true
  let isInMirror = false
  return {
    begin: (generatedAt) => lines(`{"generatedAt":${terminalSafeJson(generatedAt)},"mirrors":[`),
    beginMirror: ({ name, path, library, remotePath, listing }) => {
      const head = terminalSafeJson({ name, path, library, remotePath, listing }).slice(0, -1)
      const line = `${isFirstMirror ? '' : ','}${head},"entries":[`
      isFirstMirror = false
      isFirstEntry = true
      isInMirror = true
      return lines(line)
    },
    entry: (entry) => {
      const line = `${isFirstEntry ? '' : ','}${terminalSafeJson(entry)}`
      isFirstEntry = false
      return lines(line)
    },
    endMirror: ({ verification }, { counts, elsewhere, withoutText }) => {
      const kinds = terminalSafeJson(Object.fromEntries(withoutText))
      isInMirror = false
      const verified = verification
        ? `,"verified":${terminalSafeJson({ ...verification, faults: verification.faults.length })}`
        : ''
      return lines(`],"counts":${terminalSafeJson(counts)},"withoutText":${kinds},"elsewhere":${elsewhere}${verified}}`)
    },
    end: (failure) =>
      lines(
        ...(isInMirror ? [']}'] : []),
        failure === undefined ? ']}' : `],"error":${terminalSafeJson(describeFailure(failure))}}`,
      ),
  }
}

const CSV_COLUMNS = [
  'path',
  'class',
  'reason',
  'size',
  'sha256',
  'mime',
  'resourceId',
  'remotePaths',
  'remoteFilename',
  'ingestionStatus',
  'duplicateOf',
  'uploadedAt',
  'searchableAt',
] as const satisfies readonly (keyof ReportEntry)[]

export function createCsvPrinter(): ReportPrinter {
  let mirror = ''
  return {
    begin: () => lines(csvRecord(['mirror', ...CSV_COLUMNS])),
    beginMirror: ({ name }) => {
      mirror = name
      return undefined
    },
    entry: (entry) => lines(csvRecord([mirror, ...CSV_COLUMNS.map((column) => entry[column])])),
    endMirror: nothing,
    end: nothing,
  }
}

/** Several remote paths are in one field, separated by ` | `. */
function csvRecord(values: readonly (string | number | null | readonly string[])[]): string {
  return values.map((value) => csvField(Array.isArray(value) ? value.join(' | ') : value)).join(',')
}

/** A spreadsheet runs text that begins like a formula, so such text gets an apostrophe. */
function csvField(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value ?? '')
  const text = escapeText(String(value))
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
