/** Something that somebody has to know of, and that stays until it is over. */
export interface Cause {
  /** `service`, `store`, or of a mirror: `mirror:NAME` (it is stopped), `files:NAME`, `overdue:NAME`. */
  readonly key: string
  /** The code of the error, which tells causes under one key apart; empty where there is only one. */
  readonly code: string
  /** For people: what is wrong. */
  readonly message: string
}

/** What is wrong with the whole program: no mirror can be up to date. */
export const SHARED_KEYS = ['service', 'store'] as const

export function mirrorKey(kind: 'mirror' | 'files' | 'overdue', mirror: string): string {
  return `${kind}:${mirror}`
}

/** The mirror that a key belongs to; undefined for one of SHARED_KEYS. */
export function mirrorOfKey(key: string): string | undefined {
  const colon = key.indexOf(':')
  return colon === -1 ? undefined : key.slice(colon + 1)
}
