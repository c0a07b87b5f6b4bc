import type { AccessContext, LibrarySummary } from '../contract/records.ts'

/**
 * Whether commands that name no mirror sync this one. `named-only`: `sync DIR` created it, but the configuration has other mirrors.
 * `not-configured`: it was removed from the configuration, so nothing syncs it. `other-service`: it is pinned to another service.
 */
export type MirrorActivity = 'active' | 'named-only' | 'not-configured' | 'other-service'

interface MirrorOrigin {
  readonly isConfigured: boolean
  /** The configuration has mirrors. */
  readonly hasConfigured: boolean
  /** `sync DIR` created it. */
  readonly isAdHoc: boolean
  /** Undefined before the first sync. */
  readonly origin: string | undefined
  /** Undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
}

/** The one decision for sync, daemon, report, status and `mirrors list`. */
export function mirrorActivity(facts: MirrorOrigin): MirrorActivity {
  const { isConfigured, hasConfigured, isAdHoc, origin, currentOrigin } = facts
  if (!isConfigured && !isAdHoc) return 'not-configured'
  if (origin !== undefined && origin !== currentOrigin) return 'other-service'
  return isConfigured || !hasConfigured ? 'active' : 'named-only'
}

/** Returns whether nothing syncs the mirror any more, so that its state is out of date. */
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
 * Returns whether a new mirror may take the name of this one: `sync DIR` created this one in the embedded library, and a service is
 * configured now. A mirror of another service keeps its name, since the new URL may be a mistake.
 */
export function isNameReleased(
  { isAdHoc, origin }: { readonly isAdHoc: boolean; readonly origin: string },
  service: { readonly isEmbedded: boolean },
): boolean {
  return isAdHoc && isEmbeddedOrigin(origin) && !service.isEmbedded
}

/** Returns `wanted`, with a number appended if that name is taken. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count += 1) name = `${wanted}-${count}`
  return name
}

/** Returns whether the credential may add resources to the library. */
export function mayUpload({ access }: LibrarySummary, { abilities }: Pick<AccessContext, 'abilities'>): boolean {
  return access.includes('resource.create') || abilities.includes('library.all.resource.create')
}
