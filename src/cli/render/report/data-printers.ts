import { escapeText, terminalSafeJson } from '../../../foundation/text/safe-text.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import { describeFailure, lines, nothing, type ReportPrinter } from './report-printer.ts'

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

const COLUMNS = [
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
    begin: () => lines(record(['mirror', ...COLUMNS])),
    beginMirror: ({ name }) => {
      mirror = name
      return undefined
    },
    entry: (entry) => lines(record([mirror, ...COLUMNS.map((column) => entry[column])])),
    endMirror: nothing,
    end: nothing,
  }
}

/** Several remote paths are in one field, separated by ` | `. */
function record(values: readonly (string | number | null | readonly string[])[]): string {
  return values.map((value) => field(Array.isArray(value) ? value.join(' | ') : value)).join(',')
}

/** A spreadsheet runs text that begins like a formula, so such text gets an apostrophe. */
function field(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value ?? '')
  const text = escapeText(String(value))
  const escapeMarkdown = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",]/.test(escapeMarkdown) ? `"${escapeMarkdown.replaceAll('"', '""')}"` : escapeMarkdown
}
