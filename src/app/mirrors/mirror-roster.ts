import { join } from 'node:path'
import { readOwnFile } from '../../foundation/files/own-file.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import {
  embeddedOrigin,
  isNameReleased,
  isOutOfUse,
  type MirrorActivity,
  mirrorActivity,
} from '../../rules/mirror-activity.ts'
import { openStoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { nameOwner, originMismatch } from '../../sync/pin/pinned-service.ts'
import type { ListedMirror } from '../../sync/reading/read-overview.ts'
import { realPathOf } from '../files/paths-on-disk.ts'
import type { ConfiguredMirror, Settings } from '../settings/settings.ts'

/** A mirror of the configuration, of the state, or of both. */
export interface RosterEntry {
  readonly name: string
  readonly path: string
  readonly configured: ConfiguredMirror | undefined
  readonly row: MirrorRow | undefined
  readonly activity: MirrorActivity
  /** The origin of the current service; undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
  /** The flag, variable or file that gives the address of the service; undefined for the embedded library. */
  readonly addressFrom: string | undefined
  /** If this mirror is not active, the name of the active one of the same directory. */
  readonly replacedBy: string | undefined
}

export function listRoster(settings: Settings, storedRows: readonly MirrorRow[]): RosterEntry[] {
  const currentOrigin = identityOfService(settings)
  const addressFrom = settings.service.kind === 'configured' ? settings.service.addressFrom : undefined
  const hasConfigured = settings.mirrors.length > 0
  const configured = settings.mirrors.map((mirror) => ({
    configured: mirror,
    row: storedRows.find((row) => row.name === mirror.name && !releasesName(settings, row)),
  }))
  const taken = new Set(configured.map(({ row }) => row))
  const others = storedRows.filter((row) => !taken.has(row)).map((row) => ({ configured: undefined, row }))
  const roster = [...configured, ...others].map((entry) => {
    const { name, path } = entry.configured ?? entry.row
    const isAdHoc = entry.row?.isAdHoc ?? false
    const origin = entry.row?.library.origin
    const isConfigured = entry.configured !== undefined
    return {
      name,
      path,
      ...entry,
      currentOrigin,
      addressFrom,
      activity: mirrorActivity({ isConfigured, hasConfigured, isAdHoc, origin, currentOrigin }),
    }
  })
  const active = new Map(roster.filter(isActive).map((entry) => [realDirectoryOf(entry), entry.name]))
  return roster.map((entry) => ({
    ...entry,
    replacedBy: isActive(entry) ? undefined : active.get(realDirectoryOf(entry)),
  }))
}

/** Returns the mirrors in the state; none before the first sync. */
export function readStoredMirrors(stateDir: string): MirrorRow[] {
  using store = openStoreReader(stateDir)
  return store?.mirrors.list() ?? []
}

/** Returns the mirrors of these settings and of their state. */
export function readRoster(settings: Settings): RosterEntry[] {
  return listRoster(settings, readStoredMirrors(settings.stateDir))
}

export function listForOverview(settings: Settings, storedRows: readonly MirrorRow[]): ListedMirror[] {
  return listRoster(settings, storedRows).map((entry) => ({
    name: entry.name,
    path: entry.path,
    isOutOfUse: isOutOfUse(entry.activity),
    inactive: (entry.row && describeInactive(entry)) ?? null,
  }))
}

function isActive({ activity }: Pick<RosterEntry, 'activity'>): boolean {
  return activity === 'active'
}

/** Returns the stored path if there is one, because resolving a path on a dead mount would block. */
function realDirectoryOf({ row, path }: Pick<RosterEntry, 'row' | 'path'>): string {
  return row?.path ?? realPathOf('/', path)
}

/** Returns whether a new mirror of the current service may have the name of this one. */
export function releasesName({ service }: Settings, { isAdHoc, library }: MirrorRow): boolean {
  return isNameReleased({ isAdHoc, origin: library.origin }, { isEmbedded: service.kind === 'embedded' })
}

export function creatorOf({ configured, row }: Pick<RosterEntry, 'configured' | 'row'>, configuration: string): string {
  if (configured) return configuration
  return row?.isAdHoc ? '"shelfd sync DIR"' : 'a configuration that no longer names it'
}

/** Returns why the mirror is not synced; undefined if it is. */
export function describeInactive({ activity, row, configured, currentOrigin }: RosterEntry): string | undefined {
  switch (activity) {
    case 'active':
      return row || !configured ? undefined : 'never synced'
    case 'named-only':
      return 'synced only when it is named'
    case 'not-configured':
      return 'no longer configured'
    case 'other-service':
      return row && `belongs to ${nameOwner(row.library.origin, currentOrigin)}`
  }
}

export function explainInactive(entry: RosterEntry): string | undefined {
  const { name, path, activity, row, currentOrigin: identity, addressFrom, replacedBy } = entry
  if (replacedBy !== undefined) {
    const text = `The mirror "${name}" ${activity === 'other-service' ? '' : 'is '}${describeInactive(entry)}`
    const removal = `"shelfd mirrors forget ${shellWord(name)}" removes this mirror from the state`
    return `${text}, and "${replacedBy}" mirrors its directory now; ${removal}`
  }
  switch (activity) {
    case 'active':
      return undefined
    case 'named-only':
      return `The mirror "${name}" is not in the configuration, which names other mirrors, so it is synced only when named: "shelfd sync ${shellWord(name)}"`
    case 'not-configured': {
      const byDirectory = `"shelfd sync ${shellWord(path)}" syncs the directory without a configuration, by the default rules`
      return `The mirror "${name}" is no longer configured, so it is not scanned and not sent; configure it again, or ${byDirectory}`
    }
    case 'other-service':
      return row && originMismatch(row, { identity, ...(addressFrom !== undefined && { addressFrom }) }).message
  }
}

const RANKS: readonly MirrorActivity[] = ['active', 'named-only', 'not-configured', 'other-service']

export function sortByActivity(roster: readonly RosterEntry[]): RosterEntry[] {
  return roster.toSorted((left, right) => RANKS.indexOf(left.activity) - RANKS.indexOf(right.activity))
}

const MAX_INSTANCE_BYTES = 4_096

/** Returns the identity that mirrors are pinned to; undefined for an embedded library that was never started. */
export function identityOfService({ service }: Pick<Settings, 'service'>): string | undefined {
  if (service.kind === 'configured') return service.origin
  const written = readOwnFile(join(service.dataDir, 'instance'), MAX_INSTANCE_BYTES)
  return written === undefined ? undefined : embeddedOrigin(written.trim())
}
