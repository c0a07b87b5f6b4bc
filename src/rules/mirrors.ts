import type { AccessContext, LibrarySummary } from '../contract/records.ts'

/**
 * Says whether a command that does not name the mirror syncs it, and if not, why:
 * - `named-only`: `sync DIR` created it, and the configuration names mirrors, so that only a command that names it syncs it
 * - `not-configured`: it came from a configuration that no longer names it; no command scans or uploads it
 * - `other-service`: it is pinned to another service than the current one
 */
export type MirrorActivity = 'active' | 'named-only' | 'not-configured' | 'other-service'

interface MirrorOrigin {
  /** The configuration names this mirror. */
  readonly isConfigured: boolean
  /** The configuration names any mirror. */
  readonly hasConfigured: boolean
  /** `sync DIR` created the mirror. */
  readonly isAdHoc: boolean
  /** The service that the mirror is pinned to; undefined before its first sync. */
  readonly origin: string | undefined
  /** The service that is in use now; undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
}

/** Sync, daemon, report, status and `mirrors list` all decide by this. */
export function mirrorActivity(facts: MirrorOrigin): MirrorActivity {
  const { isConfigured, hasConfigured, isAdHoc, origin, currentOrigin } = facts
  if (!isConfigured && !isAdHoc) return 'not-configured'
  if (origin !== undefined && origin !== currentOrigin) return 'other-service'
  return isConfigured || !hasConfigured ? 'active' : 'named-only'
}

/** Returns whether nothing syncs a mirror any more, so that its state is out of date; what is synced when it is named has a state. */
export function isOutOfUse(activity: MirrorActivity): boolean {
  return activity === 'not-configured' || activity === 'other-service'
}

const EMBEDDED = 'embedded:'

/** Returns whether a mirror that is pinned to this origin belongs to the library on this computer. */
export function isEmbeddedOrigin(origin: string): boolean {
  return origin.startsWith(EMBEDDED)
}

/** The origin that mirrors of an embedded library are pinned to. */
export function embeddedOrigin(instanceId: string): string {
  return `${EMBEDDED}${instanceId}`
}

/**
 * Returns whether a mirror gives its name to a new one: `sync DIR` created it in the embedded library, and a service is configured
 * now, so that the user can't mean it. Any other mirror keeps its name: another URL of a service may be a mistake, and then
 * nothing may be uploaded.
 */
export function givesNameAway(
  { isAdHoc, origin }: { readonly isAdHoc: boolean; readonly origin: string },
  service: { readonly isEmbedded: boolean },
): boolean {
  return isAdHoc && isEmbeddedOrigin(origin) && !service.isEmbedded
}

/** Returns `wanted`, with a number after it if that name is taken. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count += 1) name = `${wanted}-${count}`
  return name
}

/** Returns whether the credential may add resources to a library. */
export function mayUpload({ access }: LibrarySummary, { abilities }: Pick<AccessContext, 'abilities'>): boolean {
  return access.includes('resource.create') || abilities.includes('library.all.resource.create')
}
