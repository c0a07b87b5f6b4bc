import { shellWord } from '../foundation/text.ts'
import { givesNameAway, type MirrorActivity, mirrorActivity } from '../rules/mirror-activity.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import { nameOwner, originMismatch } from '../sync/pin/pinned-service.ts'
import { realPathOf } from './real-path.ts'
import { identityOfService } from './service-identity.ts'
import type { MirrorSettings, Settings } from './settings/settings.ts'

/** One mirror that is configured, known to the store, or both. */
export interface RosterEntry {
  readonly name: string
  readonly path: string
  /** As the configuration names it. */
  readonly configured: MirrorSettings | undefined
  /** As the store knows it; undefined while it was never synced. */
  readonly row: MirrorRow | undefined
  readonly activity: MirrorActivity
  /** The service in use now; undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
  /** Of an inactive one: the active mirror that stands for its directory. */
  readonly replacedBy: string | undefined
}

/** Every mirror there is: the configured ones in their order, then those that only the store knows. */
export function listRoster(settings: Settings, known: readonly MirrorRow[]): RosterEntry[] {
  const currentOrigin = identityOfService(settings)
  const hasConfigured = settings.mirrors.length > 0
  const configured = settings.mirrors.map((mirror) => ({
    configured: mirror,
    row: known.find((row) => row.name === mirror.name && !givesWay(settings, row)),
  }))
  const taken = new Set(configured.map(({ row }) => row))
  const others = known.filter((row) => !taken.has(row)).map((row) => ({ configured: undefined, row }))
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
      activity: mirrorActivity({ isConfigured, hasConfigured, isAdHoc, origin, currentOrigin }),
    }
  })
  const active = new Map(roster.filter(isActive).map((entry) => [placeOf(entry), entry.name]))
  return roster.map((entry) => ({ ...entry, replacedBy: isActive(entry) ? undefined : active.get(placeOf(entry)) }))
}

function isActive({ activity }: Pick<RosterEntry, 'activity'>): boolean {
  return activity === 'active'
}

/** The real path of a mirror's directory; of one that was synced as it was then, since a dead mount would be waited for. */
function placeOf({ row, path }: Pick<RosterEntry, 'row' | 'path'>): string {
  return row?.path ?? realPathOf('/', path)
}

/** Whether a row gives its name to a new mirror of the service in use. */
export function givesWay({ service }: Settings, { isAdHoc, library }: MirrorRow): boolean {
  return givesNameAway({ isAdHoc, origin: library.origin }, { isEmbedded: service.kind === 'embedded' })
}

/** Why an entry is passed over, in a few words; undefined for one that is synced. */
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

/** What resolves that an entry is passed over, with the reason; undefined for one that is synced. */
export function explainInactive(entry: RosterEntry): string | undefined {
  const { name, path, activity, row, currentOrigin, replacedBy } = entry
  if (replacedBy !== undefined) {
    const text = `The mirror "${name}" ${activity === 'other-service' ? '' : 'is '}${describeInactive(entry)}`
    return `${text}, and "${replacedBy}" mirrors its directory now; "shelfd mirrors forget ${shellWord(name)}" removes it`
  }
  switch (activity) {
    case 'active':
      return undefined
    case 'named-only':
      return `The mirror "${name}" was made by "shelfd sync DIR", and the configuration names others; "shelfd sync ${shellWord(name)}" syncs it`
    case 'not-configured': {
      const byDirectory = `"shelfd sync ${shellWord(path)}" syncs the directory without a configuration, by the default rules`
      return `The mirror "${name}" is no longer configured, so it is not scanned and not sent; configure it again, or ${byDirectory}`
    }
    case 'other-service':
      return row && originMismatch(row, currentOrigin).message
  }
}

/** How near an entry is to being synced: where several stand for one directory, the first of these is meant. */
const RANKS: readonly MirrorActivity[] = ['active', 'named-only', 'not-configured', 'other-service']

/** Entries in the order in which they are meant by a directory. */
export function byActivity(roster: readonly RosterEntry[]): RosterEntry[] {
  return roster.toSorted((left, right) => RANKS.indexOf(left.activity) - RANKS.indexOf(right.activity))
}
