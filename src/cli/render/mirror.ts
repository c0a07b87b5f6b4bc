import { describeInactive, explainInactive, type RosterEntry } from '../../app/mirrors/mirror-roster.ts'

/** One mirror as `--json` prints it. */
export function mirrorJson(entry: RosterEntry) {
  const { name, path, row, configured, activity } = entry
  return {
    name,
    path,
    library: { id: row?.library.remoteId ?? null, name: row?.library.name ?? configured?.library ?? null },
    remotePath: row?.remotePath ?? configured?.remotePath ?? null,
    /** The service that the mirror belongs to; null when it was never synced. */
    service: row?.library.origin ?? null,
    isConfigured: configured !== undefined,
    isAdHoc: configured === undefined && row?.isAdHoc === true,
    isSynced: row !== undefined,
    activity,
    reason: describeInactive(entry) ?? null,
    wayOut: explainInactive(entry) ?? null,
  }
}

/** `Research:/Papers` */
export function targetOf({ row, configured }: RosterEntry): string {
  return `${row?.library.name ?? configured?.library}:${row?.remotePath ?? configured?.remotePath}`
}

/** Whether a mirror is synced, in a few words. */
export function describeActivity(entry: RosterEntry): string {
  return describeInactive(entry) ?? entry.activity
}
