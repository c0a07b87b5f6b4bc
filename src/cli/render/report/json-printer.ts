import { terminalSafeJson } from '../../../foundation/text/safe-text.ts'
import { describeFailure, lines, type ReportPrinter } from './report-printer.ts'

/** Prints one JSON document entry by entry. */
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
