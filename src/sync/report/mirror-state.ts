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

/** The daemon's work comes first, then the last run, then what is left to do. */
export function stateOfMirror(mirror: MirrorStatus, status: DaemonMirrorStatus | undefined, nowMs: number): StateLine {
  const { files, lastRun, isRunning, progress, problems } = mirror
  const isDone = files.toSend + files.inDoubt + files.inIngestion + files.sending === 0 && problems.length === 0
  return (
    (status && holdOfDaemon(status)) ??
    (progress && files.sending + progress.contentsSent > 0 ? sendingLine(progress) : undefined) ??
    (status && scanOfDaemon(status)) ??
    (status || !isRunning ? undefined : runningLine(mirror, nowMs)) ??
    (status ? undefined : stateOfRun(lastRun, nowMs, describeLeft(mirror, undefined))) ??
    (isDone
      ? upToDate(mirror, status, nowMs)
      : { sign: attentionSign(mirror), text: describeLeft(mirror, status && batchOf(status, nowMs)) })
  )
}

export function stateOutOfUse({ files }: Pick<MirrorStatus, 'files'>, reason: string): StateLine {
  return { sign: '!', text: `${reason} · ${counted(files.searchable, 'file')} searchable at its last run` }
}

/** Returns undefined when the daemon neither waits nor scans. */
export function stateOfDaemon(status: DaemonMirrorStatus, nowMs: number): StateLine | undefined {
  const batch = batchOf(status, nowMs)
  const waiting = batch === undefined ? undefined : ({ sign: '→', text: `waits for ${batch}` } as const)
  return holdOfDaemon(status) ?? scanOfDaemon(status) ?? waiting
}

/** Leaves out the wait for the next batch, which is no trouble. */
function holdOfDaemon({ state, reason }: DaemonMirrorStatus): StateLine | undefined {
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

/** Returns undefined after a run that ended normally. */
export function stateOfRun(run: LastRun | null, nowMs: number, left = ''): StateLine | undefined {
  if (!run) return undefined
  const next = `the same command goes on from there${left === '' ? '' : ` · ${left}`}`
  const at = formatTime(Date.parse(run.finishedAt ?? run.startedAt), nowMs)
  if (run.verdict === 'interrupted' || run.failure?.code === 'interrupted')
    return { sign: '!', text: `interrupted ${at}; ${next}` }
  if (run.failure) return { sign: '✗', text: `stopped ${at}: ${run.failure.message} [${run.failure.code}]` }
  if (run.verdict === 'cut off') return { sign: '!', text: `cut off, begun ${at}; ${next}` }
  return undefined
}

/** The run reads the directory or waits for the service. */
function runningLine(mirror: MirrorStatus, nowMs: number): StateLine | undefined {
  const { lastRun } = mirror
  if (!lastRun) return undefined
  const since = formatTime(Date.parse(lastRun.startedAt), nowMs)
  return { sign: '→', text: `running since ${since} · ${describeLeft(mirror, undefined)}` }
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

function describeLeft({ files, queue, problems }: MirrorStatus, batch: string | undefined): string {
  // Doubts have a line of their own.
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
