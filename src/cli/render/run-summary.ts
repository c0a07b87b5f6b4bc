import { escapeText } from '../../foundation/text.ts'
import { formatDuration, formatSize } from '../../foundation/units.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { RunResult } from '../../sync/run-sync.ts'

/** Problems that a summary spells out; the report has them all. */
const MOST_PROBLEMS = 20

/** The summary of a run for people. */
export function renderRunSummary({ summary, failure }: RunResult, print: (line: string) => void): void {
  for (const mirror of summary.mirrors)
    renderMirror(mirror, { isDryRun: summary.dryRun === true, told: failure?.message }, print)
  const what = summary.dryRun
    ? 'Dry run, nothing was sent'
    : { ok: 'Done', incomplete: 'Incomplete', failed: 'Failed' }[summary.verdict]
  print(`${what} in ${formatDuration(summary.durationMs)}.`)
}

interface Manner {
  readonly isDryRun: boolean
  /** The message of what stopped the run, which is told on its own. */
  readonly told: string | undefined
}

function renderMirror(mirror: SyncSummary, { isDryRun, told }: Manner, print: (line: string) => void): void {
  const { files, uploads, directories, ingestion, timeToSearchableMs: times } = mirror
  print(
    `${escapeText(mirror.name)}: ${escapeText(mirror.path)} → ${escapeText(mirror.library.name)}:${escapeText(mirror.remotePath)}`,
  )
  const lines: [string, string][] = [
    [
      'files',
      countWith(
        `${files.scanned} scanned`,
        list([
          [files.unchanged, 'unchanged'],
          [files.new, 'new'],
          [files.changed, 'changed'],
          [files.moved, 'moved'],
          [files.removed, 'removed'],
          [files.ignored, 'ignored'],
          [files.unsupported, 'unsupported'],
        ]),
      ),
    ],
    [
      isDryRun ? 'would make' : 'directories',
      list(
        isDryRun
          ? [[directories.created, 'directories']]
          : [
              [directories.created, 'created'],
              [directories.existing, 'existing'],
              [directories.failed, 'failed'],
            ],
      ),
    ],
    [isDryRun ? 'would send' : 'uploads', describeUploads(uploads, isDryRun)],
    [
      'ingestion',
      list([
        [ingestion.searchable, 'searchable'],
        [ingestion.warnings, 'of them with warnings'],
        [ingestion.pending, 'pending'],
        [ingestion.partial, 'partial'],
        [ingestion.failed, 'failed'],
        [ingestion.unknown, 'in an unknown state'],
      ]),
    ],
    [
      'searchable after',
      times ? `${formatDuration(times.p50)} (half of them), ${formatDuration(times.p95)} (95 of 100)` : '',
    ],
  ]
  for (const [label, text] of lines) if (text !== '') print(`  ${label.padEnd(16)} ${text}`)
  renderProblems(
    mirror.problems.filter(({ message }) => message !== told),
    print,
  )
}

function describeUploads(uploads: SyncSummary['uploads'], isDryRun: boolean): string {
  const counts = list([
    [uploads.created, isDryRun ? 'contents' : 'created'],
    [uploads.duplicates, 'duplicates'],
    [uploads.aliases, 'aliases'],
    [uploads.heldBack, 'held back by a limit'],
    [uploads.inDoubt, 'in doubt'],
    [uploads.failed, 'failed'],
  ])
  return counts === '' || uploads.bytes === 0 ? counts : `${counts}; ${formatSize(uploads.bytes)}`
}

function renderProblems(problems: SyncSummary['problems'], print: (line: string) => void): void {
  for (const { path, code, message, retryAt } of problems.slice(0, MOST_PROBLEMS)) {
    const retry = retryAt === null ? '' : ` (tried again after ${retryAt})`
    print(`  problem          ${escapeText(path) || '.'}: ${escapeText(message)} [${code}]${retry}`)
  }
  if (problems.length > MOST_PROBLEMS) {
    print(`  problem          and ${problems.length - MOST_PROBLEMS} more: shelfd report --only needs-attention`)
  }
}

function countWith(total: string, parts: string): string {
  return parts === '' ? total : `${total}: ${parts}`
}

function list(counts: readonly (readonly [number, string])[]): string {
  return counts.flatMap(([count, label]) => (count === 0 ? [] : [`${count} ${label}`])).join(', ')
}
