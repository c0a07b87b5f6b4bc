import { setTimeout as sleep } from 'node:timers/promises'
import { describeInactive, listRoster, type RosterEntry } from '../../app/mirrors/mirror-roster.ts'
import { lookForHolder } from '../../app/service-client/share-library.ts'
import { findStateDir } from '../../app/settings/read-settings.ts'
import type { Settings } from '../../app/settings/settings.ts'
import { connectToDaemon } from '../../daemon/control/client/connect-to-daemon.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import type { LockHolder } from '../../foundation/files/lock-holder.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { openStoreReader } from '../../store/open-store.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { MirrorOfRun } from '../../sync/report/run-history.ts'
import { type MirrorStatus, readStatus, readUnknownMirrors } from '../../sync/report/status-of-mirrors.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { FLEET_FLAGS, isOfFleet } from '../fleet/open-view.ts'
import { CLEARED, showFleetStatus } from '../fleet/show-fleet.ts'
import { statusJson } from '../render/status-json.ts'
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

const REFRESH_MS = 1_000

export const command = defineCommand({
  description: [
    'Shows for each mirror its state, why its last run stopped, what is being sent, waits or needs attention, and what a',
    'running daemon does for it. It reads only the store and the daemon. When the configuration cannot be read, it still',
    'shows the mirrors, names the mistake at the end, and exits 2.',
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
    if (redraws) context.io.stdout.write(CLEARED)
    if (lacking) context.printText(`! ${lacking}`)
    const unsynced = listUnsynced(roster ?? [], store ? readUnknownMirrors(store) : [])
    for (const line of renderStatus({ mirrors, unsynced, daemon, holders, nowMs: Date.now() })) {
      context.printText(line, line.startsWith(' ') ? 'line' : 'heading')
    }
  }
  if (found.error) throw found.error
}

interface Configuration {
  readonly stateDir: string
  readonly settings: Settings | undefined
  readonly error: UsageError | undefined
}

function readConfiguration(context: CommandContext): Configuration {
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

/** Without a configuration the activity is unknown. */
function withActivity(mirror: MirrorStatus, roster: readonly RosterEntry[] | undefined): ShownMirror {
  if (!roster) return { ...mirror, activity: null, inactive: null }
  const entry = roster.find(({ row }) => row?.name === mirror.name)
  return { ...mirror, activity: entry?.activity ?? 'active', inactive: (entry && describeInactive(entry)) ?? null }
}

/** Configured mirrors that are not in the store, with the last failed run. A refused directory that is not configured is not a mirror. */
function listUnsynced(roster: readonly RosterEntry[], failed: readonly MirrorOfRun[]): UnsyncedMirror[] {
  const unsynced = roster.filter(({ row }) => row === undefined)
  return unsynced.map(({ name, path }) => {
    const tried = failed.find((each) => each.name === name && each.path === path)
    return { name, path, lastRun: tried?.lastRun ?? null }
  })
}

/** Null without a daemon, or with a note on stderr when it does not answer. */
async function askDaemon({ printMessage }: CommandContext, stateDir: string): Promise<DaemonStatus | null> {
  try {
    const daemon = await connectToDaemon(stateDir)
    return (await daemon?.status()) ?? null
  } catch (error) {
    printMessage(`Cannot read the daemon's status: ${escapeText(messageOf(error))}`)
    return null
  }
}

/** Other processes that hold the state or the library on this computer now. */
async function findHolders(
  ofState: LockHolder | undefined,
  daemon: DaemonStatus | null,
  settings: Settings | undefined,
): Promise<Holders> {
  const isEmbedded = settings?.service.kind === 'embedded'
  const ofLibrary = isEmbedded ? await lookForHolder(settings.service.dataDir) : undefined
  const state = ofState && ofState.pid !== daemon?.pid ? nameOnly(ofState) : null
  const isTold = ofLibrary && [daemon?.pid, state?.pid].includes(ofLibrary.pid)
  return { state, library: ofLibrary && !isTold ? nameOnly(ofLibrary) : null }
}

function nameOnly({ pid, command, since }: LockHolder): LockHolder {
  return { pid, command, since }
}

interface Found {
  readonly mirrors: readonly ShownMirror[]
  readonly unsynced: readonly UnsyncedMirror[]
  readonly daemon: DaemonStatus | null
  readonly holders: Holders
  readonly nowMs: number
}

function renderStatus({ mirrors, unsynced, daemon, holders, nowMs }: Found): readonly string[] {
  const statuses = new Map(daemon?.mirrors.map((status) => [status.name, status]))
  const names = new Set(mirrors.map(({ name }) => name))
  const begun = [...statuses.values()].filter(({ name }) => !names.has(name))
  const others = unsynced.filter(({ name }) => !statuses.has(name))
  // A first sync has nothing in the state yet.
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
