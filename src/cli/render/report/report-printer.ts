import type { ShownState } from '../../../contract/report-classes.ts'
import { messageOf, ShelfdError } from '../../../foundation/errors.ts'
import { counted, escapeText, groupDigits } from '../../../foundation/text/safe-text.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { IN_DOUBT } from '../../../rules/doubts.ts'
import type { ReportClass } from '../../../rules/report-class.ts'
import type { MirrorReport } from '../../../sync/report/report.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import type { CommandContext } from '../../context.ts'

export const REPORT_FORMATS = ['text', 'combined', 'json', 'csv', 'html', 'markdown'] as const

export type ReportFormat = (typeof REPORT_FORMATS)[number]

export interface Tally {
  readonly counts: Partial<Record<ReportClass, number>>
  elsewhere: number
  readonly states: Partial<Record<ShownState, number>>
  readonly withoutText: Map<string, number>
  /** Rows that need attention and are copies of files that do. */
  failedCopies: number
  hasFailures: boolean
}

/** One or more lines without the last line end; undefined when there is nothing to print. */
export type Printed = readonly [text: string, style: TextStyle] | undefined

type TextStyle = NonNullable<Parameters<CommandContext['printText']>[1]>

export interface ReportPrinter {
  /** `beginMirror` gets the complete tally, which costs a second pass over the rows. */
  readonly countsFirst?: true
  /** It prints no entry that is in sync, so it need not get them. */
  readonly omitsInSync?: boolean
  begin(generatedAt: string, host: string): Printed
  beginMirror(mirror: MirrorReport, tally: Tally): Printed
  /** `state` is what people are shown instead of the class. */
  entry(entry: ReportEntry, state: ShownState): Printed
  endMirror(mirror: MirrorReport, tally: Tally): Printed
  end(failure?: unknown): Printed
}

export function lines(...texts: readonly string[]): Printed {
  return texts.length === 0 ? undefined : [texts.join('\n'), 'line']
}

export function nothing(): Printed {
  return undefined
}

/** Returns the path on disk or, without one, in the library. */
export function nameOf(entry: ReportEntry): string {
  return escapeText(entry.path ?? entry.remotePaths[0] ?? entry.resourceId ?? '?')
}

/** Replaces `in doubt`, which the formats for scripts keep, by words for people. */
export function reasonForPeople(reason: string): string {
  return reason === 'in doubt' ? IN_DOUBT.message : reason
}

/** Undefined without a verification. */
export function describeVerification({ verification }: MirrorReport): string | undefined {
  if (!verification) return undefined
  const { contents, bytes, faults } = verification
  const what = `${counted(contents, 'sent file')} (${formatSize(bytes)}) downloaded and compared`
  return `${what}: ${faults.length === 0 ? 'all as sent' : `${groupDigits(faults.length)} not as sent`}`
}

export function describeFailure(error: unknown): { readonly code: string; readonly message: string } {
  return { code: error instanceof ShelfdError ? error.code : 'unexpected', message: messageOf(error) }
}
