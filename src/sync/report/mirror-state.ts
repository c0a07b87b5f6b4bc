import { counted, groupDigits } from '../../foundation/text/safe-text.ts'
import { formatSpan, formatTime } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { IN_DOUBT } from '../../rules/doubts.ts'
import type { DaemonMirrorStatus } from '../continuous/controller-status.ts'
import type { LastRun } from './run-history.ts'
import type { MirrorStatus, SendingProgress } from './status-of-mirrors.ts'

const JUST_NOW_MS = 10_000

/** `✓` nothing to do, `→` in progress, `!` needs attention, `✗` stopped until the user acts. */
export interface StateLine {
  readonly sign: '✓' | '→' | '!' | '✗'
  readonly text: string
}

/** Returns what the daemon or a run does now; otherwise how the last run was interrupted; otherwise what remains to be done. */
export function stateOfMirror(mirror: MirrorStatus, status: DaemonMirrorStatus | undefined, nowMs: number): StateLine {
  const { files, lastRun, isRunning, progress, problems } = mirror
  const isDone = files.toSend + files.inDoubt + files.inIngestion + files.sending === 0 && problems.length === 0
  return (
    (status && haltOrWaitOfDaemon(status)) ??
    (progress && files.sending + progress.contentsSent > 0 ? sendingLine(progress) : undefined) ??
    (status && scanOfDaemon(status)) ??
    (status || !isRunning ? undefined : runningLine(mirror, nowMs)) ??
    (status ? undefined : stateOfRun(lastRun, nowMs, describeRemaining(mirror, undefined))) ??
    (isDone
      ? upToDate(mirror, status, nowMs)
      : { sign: attentionSign(mirror), text: describeRemaining(mirror, status && batchOf(status, nowMs)) })
  )
}

export function stateOfUnusedMirror({ files }: Pick<MirrorStatus, 'files'>, reason: string): StateLine {
  return { sign: '!', text: `${reason} · ${counted(files.searchable, 'file')} searchable at its last run` }
}

/** Returns what the daemon does with a mirror; undefined if it neither waits nor scans. */
export function stateOfDaemon(status: DaemonMirrorStatus, nowMs: number): StateLine | undefined {
  const batch = batchOf(status, nowMs)
  const waiting = batch === undefined ? undefined : ({ sign: '→', text: `waits for ${batch}` } as const)
  return haltOrWaitOfDaemon(status) ?? scanOfDaemon(status) ?? waiting
}

/** Returns why the daemon halted the mirror or waits. The wait for the next batch is no failure, so it does not count. */
function haltOrWaitOfDaemon({ state, reason }: DaemonMirrorStatus): StateLine | undefined {
  if (!reason || reason.code === 'scheduled') return undefined
  return { sign: state === 'halted' ? '✗' : '!', text: `${state}: ${reason.message} [${reason.code}]` }
}

function batchOf({ reason, nextBatchAt }: DaemonMirrorStatus, nowMs: number): string | undefined {
  if (reason?.code !== 'scheduled') return undefined
  return nextBatchAt === null ? 'its next batch' : `the batch at ${formatTime(nextBatchAt, nowMs)}`
}

function scanOfDaemon({ state }: DaemonMirrorStatus): StateLine | undefined {
  return state === 'scanning' || state === 'starting' ? { sign: '→', text: state } : undefined
}

/** Returns how a run was stopped; undefined if it ended normally or still runs. */
export function stateOfRun(run: LastRun | null, nowMs: number, remaining = ''): StateLine | undefined {
  if (!run) return undefined
  const next = `the same command continues from there${remaining === '' ? '' : ` · ${remaining}`}`
  const at = formatTime(Date.parse(run.finishedAt ?? run.startedAt), nowMs)
  if (run.verdict === 'interrupted' || run.failure?.code === 'interrupted')
    return { sign: '!', text: `interrupted ${at}; ${next}` }
  if (run.failure) return { sign: '✗', text: `stopped ${at}: ${run.failure.message} [${run.failure.code}]` }
  if (run.verdict === 'cut off') return { sign: '!', text: `cut off (begun ${at}); ${next}` }
  return undefined
}

/** Returns the line of a run without a daemon that does not send yet: it reads the directory or waits for the service. */
function runningLine(mirror: MirrorStatus, nowMs: number): StateLine | undefined {
  const { lastRun } = mirror
  if (!lastRun) return undefined
  const since = formatTime(Date.parse(lastRun.startedAt), nowMs)
  return { sign: '→', text: `running since ${since} · ${describeRemaining(mirror, undefined)}` }
}

function sendingLine({ contentsSent, contentsTotal, bytesSent, bytesTotal }: SendingProgress): StateLine {
  const percent = bytesTotal === 0 ? 0 : Math.floor((bytesSent / bytesTotal) * 100)
  const files = `${groupDigits(contentsSent)} of ${counted(contentsTotal, 'file')}`
  return { sign: '→', text: `sending ${files} · ${percent} % · ${formatSize(bytesSent)} of ${formatSize(bytesTotal)}` }
}

function upToDate({ files, lastRun }: MirrorStatus, status: DaemonMirrorStatus | undefined, nowMs: number): StateLine {
  const searchable = `${counted(files.searchable, 'file')} searchable`
  const at = status ? status.lastSuccessAt : lastRun?.finishedAt ? Date.parse(lastRun.finishedAt) : null
  const when = at === null ? '' : nowMs - at < JUST_NOW_MS ? ' just now' : ` ${formatSpan(nowMs - at)} ago`
  return { sign: '✓', text: `up to date${when} · ${searchable}` }
}

function attentionSign({ problems, files }: MirrorStatus): '!' | '→' {
  return problems.length > 0 || files.inDoubt > 0 ? '!' : '→'
}

function describeRemaining({ files, queue, problems }: MirrorStatus, batch: string | undefined): string {
  // Uploads in doubt are shown in a line of their own.
  const listed = problems.filter(({ code }) => code !== IN_DOUBT.code)
  const parts = [
    listed.length === 0 ? '' : counted(listed.length, 'problem'),
    queue.contents === 0 ? '' : describeQueue(queue.contents, batch),
    files.inIngestion === 0 ? '' : `${counted(files.inIngestion, 'file')} being processed`,
    `${counted(files.searchable, 'file')} searchable`,
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function describeQueue(files: number, batch: string | undefined): string {
  if (batch === undefined) return `${counted(files, 'file')} to send`
  return `${counted(files, 'file waits', 'files wait')} for ${batch}`
}
