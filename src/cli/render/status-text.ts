import { RUN_ENDINGS } from '../../contract/run-endings.ts'
import type { LockHolder } from '../../foundation/files/lock-holder.ts'
import { counted, escapeText, shellWord } from '../../foundation/text/safe-text.ts'
import { formatSpan, formatTime } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { describeInDoubt, IN_DOUBT } from '../../rules/doubts.ts'
import { isOutOfUse, type MirrorActivity } from '../../rules/mirror-activity.ts'
import { HOW_TO_SET_ASIDE, needsPerson } from '../../rules/path-problems.ts'
import { describeGroup, groupProblems } from '../../rules/problem-groups.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  type DaemonMirrorStatus,
  type DaemonStatus,
  describeController,
  describeStatus,
} from '../../sync/continuous/controller-status.ts'
import { describeLedgerFailure } from '../../sync/fleet/ledger-monitor.ts'
import {
  type StateLine,
  stateOfDaemon,
  stateOfMirror,
  stateOfRun,
  stateOfUnusedMirror,
} from '../../sync/report/mirror-state.ts'
import type { LastRun } from '../../sync/report/run-history.ts'
import type { MirrorStatus } from '../../sync/report/status-of-mirrors.ts'
import { renderFields } from './layout.ts'

const MAX_LINES = 10

/** A mirror, and why it is only synced when it is named. */
export interface ShownMirror extends MirrorStatus {
  /** Null when the configuration cannot be read. */
  readonly activity: MirrorActivity | null
  readonly inactive: string | null
}

export interface UnsyncedMirror {
  readonly name: string
  readonly path: string
  readonly lastRun: LastRun | null
}

export function renderMirrorStatus(
  mirror: ShownMirror,
  status: DaemonMirrorStatus | undefined,
  nowMs: number,
): readonly string[] {
  const { name, library, remotePath } = mirror
  const states = statesOf(mirror, status, nowMs)
  return [
    `${escapeText(name)} → ${escapeText(library.name)}:${escapeText(remotePath)}`,
    ...states.map(renderState),
    ...describeDoubts(mirror),
    ...describeTextless(mirror),
    ...describeProblems(mirror),
    ...renderIndented({
      'to send': describeQueue(mirror),
      'being sent': mirror.files.sending === 0 ? undefined : counted(mirror.files.sending, 'file'),
      processing: mirror.files.inIngestion === 0 ? undefined : counted(mirror.files.inIngestion, 'file'),
      'set aside': describeSetAside(mirror),
      'to create':
        mirror.directoriesToMake === 0 ? undefined : counted(mirror.directoriesToMake, 'directory', 'directories'),
      note: mirror.activity === 'named-only' ? (mirror.inactive ?? undefined) : undefined,
      paused: mirror.isPaused ? 'the daemon uploads nothing until "shelfd resume"' : undefined,
      ...(status ? describeController(status, nowMs) : { 'last run': describeLastRun(mirror, states, nowMs) }),
    }),
  ]
}

function statesOf(mirror: ShownMirror, status: DaemonMirrorStatus | undefined, nowMs: number): readonly StateLine[] {
  const { activity, inactive } = mirror
  if (inactive && activity && isOutOfUse(activity)) return [stateOfUnusedMirror(mirror, inactive)]
  const state = stateOfMirror(mirror, status, nowMs)
  if (activity !== null || status) return [state]
  const searchable = counted(mirror.files.searchable, 'file')
  const text = `not known whether it is configured · ${searchable} searchable`
  return [{ sign: '!', text }, ...(state.sign === '✓' ? [] : [state])]
}

export function renderNewMirror(status: DaemonMirrorStatus, nowMs: number): readonly string[] {
  return [
    `${escapeText(status.name)}: ${escapeText(status.path)}`,
    renderState(stateOfDaemon(status, nowMs) ?? { sign: '→', text: 'not sent yet' }),
    ...renderIndented(describeController(status, nowMs)),
  ]
}

export function renderUnsyncedMirror({ name, path, lastRun }: UnsyncedMirror, nowMs: number): readonly string[] {
  const state = stateOfRun(lastRun, nowMs) ?? ({ sign: '!', text: 'never synced' } as const)
  return [`${escapeText(name)}: ${escapeText(path)}`, renderState(state)]
}

function renderState({ sign, text }: StateLine): string {
  return `  ${sign} ${escapeText(text)}`
}

/** Undefined when the lines of the state say it already: up to date, stopped, interrupted. */
function describeLastRun({ lastRun }: ShownMirror, states: readonly StateLine[], nowMs: number): string | undefined {
  if (!lastRun?.finishedAt || lastRun.failure || states.some(({ sign }) => sign === '✓')) return undefined
  const ended = RUN_ENDINGS[lastRun.verdict]
  return ended && `${formatTime(Date.parse(lastRun.finishedAt), nowMs)}, ${ended}`
}

function describeDoubts({ files }: MirrorStatus): string[] {
  if (files.inDoubt === 0) return []
  return [`  ! ${counted(files.inDoubt, 'file')}: ${describeInDoubt(files.inDoubt)}`]
}

function describeTextless({ name, files }: MirrorStatus): string[] {
  if (files.withoutText === 0) return []
  const stored = counted(files.withoutText, 'file is stored, but its', 'files are stored, but their')
  const hint = `"shelfd report ${escapeText(shellWord(name))} --only without-text" names each, and a line in .shelfdignore leaves one out`
  return [`  ! ${stored} text can't be searched; ${hint}`]
}

/** Leaves out contents in doubt, which have a line of their own. */
function describeProblems({ problems }: MirrorStatus): string[] {
  const groups = groupProblems(problems.filter(({ code }) => code !== IN_DOUBT.code))
  const lines = groups.slice(0, MAX_LINES).map((group) => `  ! ${describeGroup(group)}`)
  const left = groups.slice(MAX_LINES).flatMap((group) => group.problems).length
  return [
    ...lines,
    ...(left > 0 ? [`  ! and ${counted(left, 'more problem')}: shelfd report`] : []),
    ...(problems.some(({ path, code }) => path !== '' && needsPerson(code)) ? [`    ${HOW_TO_SET_ASIDE}`] : []),
  ]
}

function describeSetAside({ files, pathsSetAside }: MirrorStatus): string | undefined {
  const parts = [
    ...(files.setAside === 0 ? [] : [counted(files.setAside, 'file')]),
    ...(pathsSetAside === 0 ? [] : [`${counted(pathsSetAside, 'path')} that cannot be read or sent`]),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}

function describeQueue({ queue, files }: MirrorStatus): string | undefined {
  if (queue.contents === 0) return undefined
  const copies = Math.max(0, files.toSend - queue.contents)
  const remark = copies === 0 ? '' : ` (${counted(copies, 'more is a copy', 'more are copies')})`
  return `${counted(queue.contents, 'file')}, ${formatSize(queue.bytes)}${remark}`
}

function renderIndented(fields: Readonly<Record<string, string | undefined>>): string[] {
  const text = renderFields(fields)
  return text === '' ? [] : [text.replaceAll(/^/gm, '  ')]
}

/** Also names a service and a ledger that do not answer. */
export function describeDaemon(status: DaemonStatus, nowMs: number): readonly string[] {
  const { pid, startedAt, service, ledger } = status
  const ledgerFailure = describeLedgerFailure(ledger, nowMs)
  const head = `daemon: running for ${formatSpan(nowMs - startedAt)} (process ${pid}), ${escapeText(describeStatus(status))}`
  return [
    head,
    ...(service.reason ? [`  ! ${escapeText(service.reason.message)} [${service.reason.code}]`] : []),
    ...(ledgerFailure === null ? [] : [`  ! ${escapeText(ledgerFailure)} [${ledger?.reason?.code}]`]),
  ]
}

export interface Holders {
  readonly state: LockHolder | null
  readonly library: LockHolder | null
}

/** The line when no daemon answers. */
export function describeNoDaemon({ state }: Holders): string {
  return state?.command === 'shelfd daemon' ? 'daemon: starting or stopping' : 'daemon: not running'
}

export function describeHolders({ state, library }: Holders, nowMs: number): readonly string[] {
  const line = ({ pid, command, since }: LockHolder, what: string) =>
    `${escapeText(command)}: running for ${formatSpan(nowMs - Date.parse(since))} (process ${pid}), ${what}`
  return [
    ...(state ? [line(state, 'holds the state')] : []),
    ...(library ? [line(library, 'holds the library on this computer')] : []),
  ]
}

/** Undefined unless the state may lack uploads that the service has. */
export function describeLacking(store: StoreReader | undefined): string | undefined {
  if (!store?.mayLackReceipts()) return undefined
  return 'The state is new, restored or copied: before it sends anything, shelfd looks for earlier uploads in the library'
}
