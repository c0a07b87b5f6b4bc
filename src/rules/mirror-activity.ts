import type { AccessContext, LibrarySummary } from '../contract/records.ts'

/**
 * Whether a command syncs the mirror without naming it: `named-only`, created by `sync DIR` beside a configuration with mirrors;
 * `not-configured`, no longer in the configuration, so nothing syncs it; `other-service`, pinned to another service.
 */
export type MirrorActivity = 'active' | 'named-only' | 'not-configured' | 'other-service'

interface MirrorOrigin {
  readonly isConfigured: boolean
  readonly hasConfigured: boolean
  readonly isAdHoc: boolean
  /** Undefined before the first sync. */
  readonly origin: string | undefined
  /** Undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
}

/** Sync, daemon, report, status and `mirrors list` all use this. */
export function mirrorActivity(facts: MirrorOrigin): MirrorActivity {
  const { isConfigured, hasConfigured, isAdHoc, origin, currentOrigin } = facts
  if (!isConfigured && !isAdHoc) return 'not-configured'
  if (origin !== undefined && origin !== currentOrigin) return 'other-service'
  return isConfigured || !hasConfigured ? 'active' : 'named-only'
}

/** Nothing syncs the mirror any more, so its state is out of date. */
export function isOutOfUse(activity: MirrorActivity): boolean {
  return activity === 'not-configured' || activity === 'other-service'
}

const EMBEDDED = 'embedded:'

export function isEmbeddedOrigin(origin: string): boolean {
  return origin.startsWith(EMBEDDED)
}

export function embeddedOrigin(instanceId: string): string {
  return `${EMBEDDED}${instanceId}`
}

/**
 * Returns whether a mirror releases its name to a new one: `sync DIR` created it in the embedded library, and a service is configured now.
 * Others keep theirs, since another URL may be a mistake.
 */
export function isNameReleased(
  { isAdHoc, origin }: { readonly isAdHoc: boolean; readonly origin: string },
  service: { readonly isEmbedded: boolean },
): boolean {
  return isAdHoc && isEmbeddedOrigin(origin) && !service.isEmbedded
}

/** Appends a number to a taken name. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count += 1) name = `${wanted}-${count}`
  return name
}

/** The credential may add resources to the library. */
export function mayUpload({ access }: LibrarySummary, { abilities }: Pick<AccessContext, 'abilities'>): boolean {
  return access.includes('resource.create') || abilities.includes('library.all.resource.create')
}
