import { counted, escapeText, groupDigits } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/times.ts'
import { formatDuration, formatSize } from '../../foundation/text/units.ts'
import { describeHold } from '../../rules/limits.ts'
import { HOW_TO_SET_ASIDE, needsPerson } from '../../rules/path-problems.ts'
import { describeGroup, groupProblems } from '../../rules/problem-groups.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import type { SummaryProblem, SyncSummary } from '../../rules/sync-summary.ts'
import { describeKinds } from '../../rules/without-text.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { CommandContext } from '../context.ts'

/** The most lines of problems that a summary has; the report has all problems. */
const MAX_LINES = 20

/** For fewer contents the 95th percentile is the slowest one. */
const FEW = 20

type Line = readonly [label: string, text: string] | undefined

const ATTENTION = '!'

export function renderRunSummary(result: RunResult, print: CommandContext['printText']): void {
  const { summary, failure } = result
  const accounts = summary.mirrors.map((mirror) => ({ mirror, lines: linesOf(mirror, result) }))
  const [only] = accounts
  // The error itself says that the only directory could not be read.
  if (accounts.length === 1 && only?.lines.length === 0 && failure?.kind === 'root') return
  for (const { mirror, lines } of accounts) {
    print(headline(mirror), 'heading')
    for (const line of lines) print(renderLine(line))
  }
  const problems = summary.mirrors.flatMap((mirror) => furtherProblems(mirror, result))
  if (!summary.dryRun && problems.some(canBeIgnored)) print(HOW_TO_SET_ASIDE)
  print(lastLine(result))
}

function linesOf(mirror: SyncSummary, result: RunResult): readonly NonNullable<Line>[] {
  const problems = furtherProblems(mirror, result)
  const nowMs = Date.parse(result.summary.finishedAt)
  const described = describeProblems(problems, nowMs)
  const lines = result.summary.dryRun ? dryRunLines(mirror, described, result.failure) : runLines(mirror, described)
  return lines.filter((line) => line !== undefined)
}

/** The most important lines come first. */
function runLines(mirror: SyncSummary, problems: readonly Line[]): Line[] {
  return [
    sent(mirror),
    createdDirectories(mirror),
    searchable(mirror),
    warnings(mirror),
    withoutText(mirror),
    processing(mirror),
    ...restLines(mirror, problems),
  ]
}

function dryRunLines(mirror: SyncSummary, problems: readonly Line[], failure: RunResult['failure']): Line[] {
  const { uploads, directories } = mirror
  return [
    // A failed run does not know what it would send.
    failure && uploads.created === 0 ? undefined : ['would send', describeSent(uploads)],
    directories.created === 0 ? undefined : ['would add', counted(directories.created, 'directory', 'directories')],
    ...restLines(mirror, problems),
  ]
}

function restLines(mirror: SyncSummary, problems: readonly Line[]): Line[] {
  return [
    ...heldBack(mirror),
    ...problems,
    unchanged(mirror),
    changed(mirror),
    moved(mirror),
    gone(mirror),
    tooNew(mirror),
    leftOut(mirror),
    unsupported(mirror),
  ]
}

function headline({ name, library, remotePath }: SyncSummary): string {
  return `${escapeText(name)} → ${escapeText(library.name)}:${escapeText(remotePath)}`
}

function renderLine([label, text]: NonNullable<Line>): string {
  return label === ATTENTION ? `  ! ${text}` : `  ${label.padEnd(11)} ${text}`
}

function sent({ uploads }: SyncSummary): Line {
  const { created, duplicates, aliases } = uploads
  return created + duplicates + aliases === 0 ? undefined : ['sent', describeSent(uploads)]
}

/** Describes uploads as `84 files, 200 MiB (2 were there already, 1 more is a copy)`. */
function describeSent({ created, duplicates, aliases, bytes }: SyncSummary['uploads']): string {
  if (created + bytes === 0) {
    const found =
      duplicates === 0 ? '' : `; ${counted(duplicates, 'file was there already', 'files were there already')}`
    return `nothing${found}${aliases === 0 ? '' : `; ${counted(aliases, 'copy', 'copies')} of files already sent`}`
  }
  const files = created + duplicates
  const size = bytes === 0 ? '' : `, ${formatSize(bytes)}`
  const remarks = [
    ...(duplicates === 0 ? [] : [counted(duplicates, 'was there already', 'were there already')]),
    ...(aliases === 0 ? [] : [counted(aliases, 'more is a copy', 'more are copies')]),
  ]
  return `${counted(files, 'file')}${size}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}`
}

function createdDirectories({ directories }: SyncSummary): Line {
  const { created, failed } = directories
  if (failed > 0) return [ATTENTION, `${counted(failed, 'directory', 'directories')} could not be created`]
  return created === 0 ? undefined : ['created', counted(created, 'directory', 'directories')]
}

/** Counts files, copies included, as `status` and report do. */
function searchable({ ingestion, timeToSearchableMs: times }: SyncSummary): Line {
  const { searchable: found, warnings: warned } = ingestion
  if (found === 0) return undefined
  const copies = ingestion.copies.searchable
  const remark = copies === 0 ? '' : ` (${counted(copies, 'of them is a copy', 'of them are copies')})`
  const warnings = warned === 0 ? '' : `, ${warned} of them with warnings`
  return [
    'searchable',
    `${counted(found + copies, 'file')}${remark}${warnings}${times ? describeTimes(found, times) : ''}`,
  ]
}

/** Shows one warning as an example; the report has each. */
function warnings({ ingestion }: SyncSummary): Line {
  const { warning } = ingestion
  if (warning === null) return undefined
  return ['warnings', `${ingestion.warnings > 1 ? 'such as: ' : ''}${escapeText(warning)}`]
}

/** If the contents are few, gives the slowest time only. The time of a content that was ingested at once is 0. */
function describeTimes(count: number, { p50, p95 }: NonNullable<SyncSummary['timeToSearchableMs']>): string {
  if (p95 === 0) return ', at once'
  if (count === 1) return `, after ${formatDuration(p95)}`
  if (count < FEW) return `, all within ${formatDuration(p95)}`
  const half = p50 === 0 ? 'at once' : `within ${formatDuration(p50)}`
  return `, half of them ${half}, 95 % within ${formatDuration(p95)}`
}

function withoutText({ ingestion }: SyncSummary): Line {
  const { withoutTextKinds: kinds } = ingestion
  const count = Object.values(kinds).reduce((sum, files) => sum + files, 0)
  if (count === 0) return undefined
  const text = count === 1 ? 'its text' : 'their text'
  return [ATTENTION, `${count} stored, but ${text} can't be searched (${describeKinds(kinds)})`]
}

function processing(mirror: SyncSummary): Line {
  const files = filesInIngestion(mirror)
  return files === 0 ? undefined : ['processing', `${counted(files, 'file')}, not searchable yet`]
}

function filesInIngestion({ ingestion }: SyncSummary): number {
  return ingestion.pending + ingestion.copies.pending
}

function heldBack({ uploads }: SyncSummary): Line[] {
  return uploads.heldBackBy.map((hold) => [ATTENTION, `${counted(hold.contents, 'file')} ${describeHold(hold)}`])
}

/** Unchanged files that the last run did not send are sent now. */
function unchanged({ files, uploads }: SyncSummary): Line {
  if (files.unchanged === 0) return undefined
  const sentFiles = uploads.created + uploads.duplicates + uploads.aliases
  const remark = sentFiles > files.new + files.changed ? '; the last run had left some, which are sent now' : ''
  return ['unchanged', `${counted(files.unchanged, 'file')}${remark}`]
}

function changed({ files }: SyncSummary): Line {
  if (files.changed === 0) return undefined
  // A file that changed before it was sent has no earlier version in the library.
  const earlier = files.changed === 1 ? 'a version that was sent stays' : 'versions that were sent stay'
  return ['changed', `${counted(files.changed, 'file')}; ${earlier} in the library`]
}

function moved({ files }: SyncSummary): Line {
  return files.moved === 0 ? undefined : ['moved', `${counted(files.moved, 'file')}; nothing is sent again`]
}

function gone({ files }: SyncSummary): Line {
  const lost = files.removed - files.leftOut
  return lost === 0 ? undefined : ['gone', `${counted(lost, 'file')}; what was sent stays in the library`]
}

/** Does not count files that cannot be sent, since those are problems. */
function leftOut({ files }: SyncSummary): Line {
  const { ignored, secrets, leftOut: before } = files
  const kinds =
    secrets === 0
      ? ''
      : ignored === 1
        ? ' (looks like a secret)'
        : ` (${counted(secrets, 'looks like a secret', 'look like secrets')})`
  const remark = `; ${counted(before, 'file was mirrored before and stays', 'files were mirrored before and stay')} in the library`
  return ignored === 0 ? undefined : ['left out', `${groupDigits(ignored)}${kinds}${before === 0 ? '' : remark}`]
}

function tooNew({ files }: SyncSummary): Line {
  return files.tooNew === 0 ? undefined : ['too new', `${counted(files.tooNew, 'file')}, for a later run (--min-age)`]
}

function unsupported({ files }: SyncSummary): Line {
  if (files.unsupported === 0) return undefined
  const kinds = counted(files.unsupported, 'pipe, socket or device', 'pipes, sockets or devices')
  return ['unsupported', `${kinds}, never sent; see shelfd report`]
}

function canBeIgnored({ path, code }: SummaryProblem): boolean {
  return path !== '' && needsPerson(code)
}

function furtherProblems({ problems }: SyncSummary, { failure }: RunResult): SummaryProblem[] {
  return problems.filter(({ message }) => message !== failure?.message)
}

function describeProblems(problems: readonly SummaryProblem[], nowMs: number): Line[] {
  const groups = groupProblems(problems, ({ retryAt }) => retryAt)
  const lines = groups.slice(0, MAX_LINES).map((group): Line => {
    const retryAt = group.problems[0]?.retryAt ?? null
    const retryAtMs = Date.parse(retryAt ?? '')
    const retry = retryAtMs > nowMs ? `; tried again after ${timeOfDay(retryAtMs, nowMs)}` : ''
    return [ATTENTION, describeGroup(group, retry)]
  })
  const left = groups.slice(MAX_LINES).flatMap((group) => group.problems).length
  if (left > 0) lines.push([ATTENTION, `and ${left} more: shelfd report --only needs-attention`])
  return lines
}

/** Returns the last line, such as `Done with 2 problems in 3.4 s; 3 files wait for the next run.` */
function lastLine(result: RunResult): string {
  const { summary, failure } = result
  const duration = formatDuration(summary.durationMs)
  const isStopped = failure && reactToFailure(failure).stopsRun
  if (isStopped || (failure && summary.mirrors.length === 1)) return `Stopped after ${duration}.`
  const pending = sum(summary.mirrors, filesInIngestion)
  const processing = pending === 0 ? '' : `; ${counted(pending, 'file is', 'files are')} still being processed`
  if (summary.dryRun) return `Dry run in ${duration}: nothing was sent${processing}.`
  const problems = sum(summary.mirrors, (mirror) => mirror.problems.length)
  const outcome = problems === 0 ? 'Done' : `Done with ${counted(problems, 'problem')}`
  const waiting = sum(summary.mirrors, ({ uploads }) => uploads.heldBack + uploads.waiting)
  const rest = waiting === 0 ? '' : `; ${counted(waiting, 'file waits', 'files wait')} for the next run`
  return `${outcome} in ${duration}${rest}${processing}.`
}

function sum(mirrors: readonly SyncSummary[], countIn: (mirror: SyncSummary) => number): number {
  return mirrors.reduce((total, mirror) => total + countIn(mirror), 0)
}
