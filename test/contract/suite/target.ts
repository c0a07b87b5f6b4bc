/** The credentials that the suite can use; only the owner's is needed. */
export const ROLES = {
  owner: 'all rights that there are',
  reader: 'the right to read, nothing else',
  steward: 'the abilities to create and delete libraries, nothing else',
  agent: 'agents only: not enabled for the API',
} as const

export type Role = keyof typeof ROLES

/** A service to examine, and what the suite may do there. */
export interface Target {
  /** Scheme and host only. */
  readonly url: string
  readonly tokens: Readonly<Partial<Record<Role, string>>> & { readonly owner: string }
  /** Without it, the suite sends no request that could change what the service stores. */
  readonly mayWrite: boolean
  /** The identifier of a library that the suite writes to, in place of one of its own. */
  readonly library?: string | undefined
  /** How long the processing of a small file may take. */
  readonly processingMs: number
  fetch(url: string, init: RequestInit): Promise<Response>
  wait(durationMs: number): Promise<void>
  /** Moves the time of the service; undefined when that would take too long. */
  readonly laterBy?: ((minutes: number) => Promise<void>) | undefined
}
