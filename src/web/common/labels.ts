import { kindOf } from '../../contract/kinds.ts'
import type { ResourceRecord } from '../../contract/records.ts'
import { ingestionOutcome } from '../../contract/states.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { formatTime } from './format.ts'

export type Tone = 'plain' | 'good' | 'warning' | 'problem'

export interface StateLabel {
  readonly tone: Tone
  readonly state: string
  readonly reasons: readonly string[]
}

/** Describes how far the processing of a resource has come; the reasons are its error and its warnings. */
export function describeState(resource: ResourceRecord): StateLabel {
  const { ingestion_status: status, ingestion_error: error, ingestion_warnings: warnings = [] } = resource
  const reasons = [...(typeof error === 'string' ? [error] : []), ...warnings]
  switch (ingestionOutcome(status)) {
    case 'pending':
      return { tone: 'plain', state: status === 'running' ? 'Being read' : 'Waiting to be read', reasons }
    case 'searchable':
      if (resource.size === 0) return { tone: 'warning', state: 'Empty: found by its name only', reasons }
      if (resource.text_extracted === false) return { tone: 'warning', state: 'Found by its name only', reasons }
      return reasons.length > 0
        ? { tone: 'warning', state: 'Searchable, with reservations', reasons }
        : { tone: 'good', state: 'Searchable', reasons }
    case 'partial':
      return { tone: 'problem', state: 'Not wholly searchable', reasons }
    case 'failed':
      return { tone: 'problem', state: 'Could not be read', reasons }
    case 'unknown':
      return { tone: 'problem', state: `In a state that this page does not know: ${String(status)}`, reasons }
  }
}

export function isText(mimeType: string): boolean {
  return (
    /^text\/|^message\/|json|xml|yaml|toml|javascript|^application\/(sql|x-sh|x-tex)/.test(mimeType) &&
    !isOffice(mimeType)
  )
}

function isOffice(mimeType: string): boolean {
  return /openxmlformats|opendocument|rtf$/.test(mimeType)
}

const UNITS: Readonly<Record<string, string>> = {
  line: 'Line',
  row: 'Row',
  paragraph: 'Paragraph',
  page: 'Page',
  slide: 'Slide',
  second: 'Second',
}

/** Returns the position of a passage in its source, such as `Pages 3–4`; empty if the service tells none. */
export function describePosition(trace: unknown): string {
  const entry: unknown = Array.isArray(trace) ? trace[0] : undefined
  if (typeof entry !== 'object' || entry === null) return ''
  const { unit, from, to, sheet, message, attachment } = entry as Record<string, unknown>
  const name = UNITS[String(unit)] ?? ''
  const inside = [message, attachment, sheet].filter((each) => typeof each === 'string')
  const numbers = from === to ? `${name} ${from}` : `${name}s ${from}–${to}`
  return [...inside, ...(name === '' ? [] : [numbers])].join(', ')
}

/** Returns what the service says of a file, such as `PDF · 1.2 MiB · added Nov 24, 2026, 2:30 AM`. */
export function describeFile({ mime_type: mimeType, size, created_at: createdAt }: ResourceRecord): string {
  const facts = [
    kindOf(String(mimeType ?? '')),
    ...(typeof size === 'number' ? [formatSize(size)] : []),
    ...(typeof createdAt === 'string' ? [`added ${formatTime(createdAt)}`] : []),
  ]
  return facts.join(' · ')
}
