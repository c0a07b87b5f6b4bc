import { setTimeout as sleep } from 'node:timers/promises'
import { describeInactive, listRoster, type RosterEntry } from '../../app/mirrors/mirror-roster.ts'
import { lookForHolder } from '../../app/service-client/share-library.ts'
import { findStateDir } from '../../app/settings/read-settings.ts'
import type { Settings } from '../../app/settings/settings.ts'
import { connectToDaemon } from '../../daemon/control/client/connect-to-daemon.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import type { LockHolder } from '../../foundation/files/lock-holder.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { openStoreReader } from '../../store/open-store.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { MirrorOfRun } from '../../sync/report/run-history.ts'
import { type MirrorStatus, readStatus, readUnstoredMirrors } from '../../sync/report/status-of-mirrors.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import {
  describeDaemon,
  describeHolders,
  describeLacking,
  describeNoDaemon,
  type Holders,
  renderMirrorStatus,
  renderNewMirror,
  renderUnsyncedMirror,
  type ShownMirror,
  type UnsyncedMirror,
} from '../render/status-text.ts'
import { CLEAR_SCREEN, FLEET_FLAGS, isOfFleet, showFleetStatus } from '../show-fleet.ts'

const REFRESH_MS = 1_000

export const command = defineCommand({
  description: [
    'Shows for each mirror its state, why its last run stopped, what is being sent, waits or needs attention, and what a',
    'running daemon does for it. It reads the state and asks the daemon, but not the service. When the configuration cannot',
    'be read, it still shows the mirrors, names the mistake at the end, and exits 2.',
  ].join('\n'),
  options: { watch: { type: 'boolean', describe: 'Show it again every second until interrupted' }, ...FLEET_FLAGS },
  examples: [
    ['status', 'the state of each mirror'],
    ['status --watch', 'the same, shown again every second'],
    ['status --json', 'for scripts'],
    ['status --fleet', 'the mirrors of all hosts that share a ledger'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    do {
      const redraws = args.watch && context.io.isTerminal.stdout
      if (isOfFleet(args)) await showFleetStatus(context, args, redraws)
      else await showOnce(context, redraws)
      if (args.watch) await sleep(REFRESH_MS, undefined, { signal: context.signal }).catch(() => {})
    } while (args.watch && !context.signal.aborted)
    return args.watch ? 'interrupted' : 'done'
  },
})

async function showOnce(context: CommandContext, redraws: boolean): Promise<void> {
  const found = readConfiguration(context)
  using store = openStoreReader(found.stateDir)
  const roster = found.settings && listRoster(found.settings, store?.mirrors.list() ?? [])
  const mirrors = (store ? readStatus(store) : []).map((mirror) => withActivity(mirror, roster))
  const daemon = await askDaemon(context, found.stateDir)
  const holders = await findHolders(store?.findHolder(), daemon, found.settings)
  const lacking = describeLacking(store)
  if (context.json) {
    if (lacking) context.printMessage(lacking)
    context.printJson(statusJson(mirrors, daemon, holders, found.error))
  } else {
    if (redraws) context.io.stdout.write(CLEAR_SCREEN)
    if (lacking) context.printText(`! ${lacking}`)
    const unsynced = listUnsynced(roster ?? [], store ? readUnstoredMirrors(store) : [])
    for (const line of renderStatus({ mirrors, unsynced, daemon, holders, nowMs: Date.now() })) {
      context.printText(line, line.startsWith(' ') ? 'line' : 'heading')
    }
  }
  if (found.error) throw found.error
}

function readConfiguration(context: CommandContext) {
  try {
    const { settings } = context
    return { stateDir: settings.stateDir, settings, error: undefined }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const { io, settingFlags, config } = context
    const stateDir = findStateDir({ ...io, flags: { ...settingFlags, config } })
    return { stateDir, settings: undefined, error }
  }
}

/** Adds whether a mirror is synced, and why not; both are null if the configuration cannot be read. */
function withActivity(mirror: MirrorStatus, roster: readonly RosterEntry[] | undefined): ShownMirror {
  if (!roster) return { ...mirror, activity: null, inactive: null }
  const entry = roster.find(({ row }) => row?.name === mirror.name)
  return { ...mirror, activity: entry?.activity ?? 'active', inactive: (entry && describeInactive(entry)) ?? null }
}

/** Returns the configured mirrors that are not in the store, each with its last failed run; `failed` also has refused directories. */
function listUnsynced(roster: readonly RosterEntry[], failed: readonly MirrorOfRun[]): UnsyncedMirror[] {
  const unsynced = roster.filter(({ row }) => row === undefined)
  return unsynced.map(({ name, path }) => {
    const tried = failed.find((each) => each.name === name && each.path === path)
    return { name, path, lastRun: tried?.lastRun ?? null }
  })
}

/** Returns the status of the daemon; null if none runs, or if it does not answer, which is noted on stderr. */
async function askDaemon({ printMessage }: CommandContext, stateDir: string): Promise<DaemonStatus | null> {
  try {
    const daemon = await connectToDaemon(stateDir)
    return (await daemon?.status()) ?? null
  } catch (error) {
    printMessage(`Cannot read the daemon's status: ${escapeText(messageOf(error))}`)
    return null
  }
}

/** Finds the processes other than the daemon that hold the state or the library on this computer now. */
async function findHolders(
  ofState: LockHolder | undefined,
  daemon: DaemonStatus | null,
  settings: Settings | undefined,
): Promise<Holders> {
  const isEmbedded = settings?.service.kind === 'embedded'
  const ofLibrary = isEmbedded ? await lookForHolder(settings.service.dataDir) : undefined
  const state = ofState && ofState.pid !== daemon?.pid ? shownHolder(ofState) : null
  const isNamed = ofLibrary && [daemon?.pid, state?.pid].includes(ofLibrary.pid)
  return { state, library: ofLibrary && !isNamed ? shownHolder(ofLibrary) : null }
}

function shownHolder({ pid, command, since }: LockHolder): LockHolder {
  return { pid, command, since }
}

function statusJson(
  mirrors: readonly ShownMirror[],
  daemon: DaemonStatus | null,
  holders: Holders,
  error: UsageError | undefined,
) {
  return {
    mirrors,
    daemon: daemon && daemonStatusJson(daemon),
    holders,
    ...(error && { configurationError: { code: error.code, message: error.message } }),
  }
}

/** Returns the daemon's status for JSON, with times in ISO 8601. */
export function daemonStatusJson({ startedAt, service, ledger, mirrors, ...status }: DaemonStatus) {
  const withTime = <T extends { readonly sinceMs: number }>({ sinceMs, ...state }: T) => ({
    ...state,
    since: isoTime(sinceMs),
  })
  return {
    ...status,
    startedAt: isoTime(startedAt),
    service: withTime(service),
    ledger: ledger && withTime(ledger),
    mirrors: mirrors.map((mirror) => ({
      ...mirror,
      lastScanAt: isoTime(mirror.lastScanAt),
      lastSuccessAt: isoTime(mirror.lastSuccessAt),
      nextRunAt: isoTime(mirror.nextRunAt),
      nextBatchAt: isoTime(mirror.nextBatchAt),
    })),
  }
}

interface StatusParts {
  readonly mirrors: readonly ShownMirror[]
  readonly unsynced: readonly UnsyncedMirror[]
  readonly daemon: DaemonStatus | null
  readonly holders: Holders
  readonly nowMs: number
}

function renderStatus({ mirrors, unsynced, daemon, holders, nowMs }: StatusParts): readonly string[] {
  const statuses = new Map(daemon?.mirrors.map((status) => [status.name, status]))
  const names = new Set(mirrors.map(({ name }) => name))
  const begun = [...statuses.values()].filter(({ name }) => !names.has(name))
  const others = unsynced.filter(({ name }) => !statuses.has(name))
  // A first sync that still runs has stored nothing yet, but holds the state.
  const isEmpty = mirrors.length + statuses.size + others.length === 0 && holders.state === null
  return [
    ...(daemon ? describeDaemon(daemon, nowMs) : [describeNoDaemon(holders)]),
    ...describeHolders(holders, nowMs),
    ...mirrors.flatMap((mirror) => renderMirrorStatus(mirror, statuses.get(mirror.name), nowMs)),
    ...begun.flatMap((status) => renderNewMirror(status, nowMs)),
    ...others.flatMap((mirror) => renderUnsyncedMirror(mirror, nowMs)),
    ...(isEmpty ? ['Nothing was mirrored yet: see "shelfd sync --help"'] : []),
  ]
}
