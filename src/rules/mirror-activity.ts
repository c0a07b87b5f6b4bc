/**
 * Whether a mirror is synced when nobody names it, and if not, why:
 * - `named-only`: made by `sync DIR`; beside a configuration that names mirrors it is synced only when it is named
 * - `not-configured`: it came from a configuration that no longer names it; it is never scanned or sent
 * - `other-service`: what it sent belongs to another service than the current one
 */
export type MirrorActivity = 'active' | 'named-only' | 'not-configured' | 'other-service'

export interface MirrorFacts {
  /** The configuration names this mirror. */
  readonly isConfigured: boolean
  /** The configuration names any mirror. */
  readonly hasConfigured: boolean
  /** Made by `sync DIR`. */
  readonly isAdHoc: boolean
  /** The service it is pinned to; undefined when it was never synced. */
  readonly origin: string | undefined
  /** The service that is in use now; undefined for an embedded library that was never started. */
  readonly currentOrigin: string | undefined
}

/** The one decision behind sync, daemon, report, status and `mirrors list`. */
export function mirrorActivity(facts: MirrorFacts): MirrorActivity {
  const { isConfigured, hasConfigured, isAdHoc, origin, currentOrigin } = facts
  if (!isConfigured && !isAdHoc) return 'not-configured'
  if (origin !== undefined && origin !== currentOrigin) return 'other-service'
  return isConfigured || !hasConfigured ? 'active' : 'named-only'
}

const EMBEDDED = 'embedded:'

/** Whether a mirror that is pinned to this origin belongs to the library on this computer. */
export function isEmbeddedOrigin(origin: string): boolean {
  return origin.startsWith(EMBEDDED)
}

/** The origin that mirrors of an embedded library are pinned to. */
export function embeddedOrigin(instanceId: string): string {
  return `${EMBEDDED}${instanceId}`
}

/**
 * Whether a mirror gives its name to a new one: it was made by `sync DIR` in the library on this computer, and a service
 * is configured now, so that it can't be the one that is meant. Any other mirror keeps its name: another URL of a service may
 * be a slip, and then nothing may be sent.
 */
export function givesNameAway(
  { isAdHoc, origin }: { readonly isAdHoc: boolean; readonly origin: string },
  service: { readonly isEmbedded: boolean },
): boolean {
  return isAdHoc && isEmbeddedOrigin(origin) && !service.isEmbedded
}

/** `wanted`, or with a number after it when that is taken. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count += 1) name = `${wanted}-${count}`
  return name
}
