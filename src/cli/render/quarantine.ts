import { join } from 'node:path'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { quarantineLeftMs } from '../../rules/quarantine.ts'
import type { Quarantined } from '../../sync/quarantine.ts'
import type { CommandContext } from '../context.ts'
import { fitsTable, renderFields } from './layout.ts'

const SHA256_DIGITS = 12

const HEADINGS = ['path', 'code', 'message', 'since', 'next try', 'sha256']

/** Prints one row per content with its first file, or a block of lines if the terminal is too narrow for whole rows. */
export function showQuarantine({ print, printTable, columns }: CommandContext, contents: readonly Quarantined[]): void {
  const rows = contents.map((content) => [
    pathOf(content),
    content.code,
    content.message,
    localTime(content.since),
    describeNextTry(content),
    content.sha256.slice(0, SHA256_DIGITS),
  ])
  if (fitsTable(HEADINGS, rows, columns)) printTable(HEADINGS, rows)
  else for (const content of contents) print(renderBlock(content))
}

function renderBlock(content: Quarantined): string {
  const { message, code, since } = content
  const begun = since === null ? '' : `since ${localTime(since)}; `
  return [
    escapeText(pathOf(content)),
    `  ${escapeText(message)} [${code}]`,
    `  ${begun}next try ${describeNextTry(content)}`,
  ].join('\n')
}

export function renderQuarantined(content: Quarantined): string {
  const { sha256, mime, sizeBytes, stage, resourceId, code, message, tries, since, files } = content
  const paths = files.map(({ root, path }, index) => [`file ${index + 1}`, join(root, path)] as const)
  return renderFields({
    ...Object.fromEntries(paths),
    sha256,
    'MIME type': mime,
    size: formatSize(sizeBytes),
    failed: stage === 'upload' ? 'the upload' : 'the ingestion of the resource',
    resource: resourceId,
    problem: `${message} [${code}]`,
    tries,
    since: localTime(since),
    'next try': describeNextTry(content),
  })
}

/** Returns a content for scripts, without the store's own number. */
export function quarantinedJson({ contentId: _, ...content }: Quarantined) {
  return content
}

function pathOf({ files }: Quarantined): string {
  const [first] = files
  if (!first) return ''
  const more = files.length === 1 ? '' : ` (and ${files.length - 1} more)`
  return `${join(first.root, first.path)}${more}`
}

function describeNextTry({ isSetAside, retryAt }: Quarantined): string {
  if (isSetAside) return 'never: set aside'
  const isDue = retryAt === null || quarantineLeftMs(Date.parse(retryAt), Date.now()) === 0
  return isDue ? 'with the next run' : localTime(retryAt)
}

/** Returns the time of an ISO date on this computer's clock; empty for null. */
function localTime(iso: string | null): string {
  return iso === null ? '' : timeOfDay(Date.parse(iso), Date.now())
}
