import type { ErrorCode, ErrorKind } from '../foundation/errors.ts'
import { HOUR_MS } from '../foundation/text/times.ts'
import type { RetryPolicy } from './retry-delay.ts'

/**
 * What a failure stops: `item`, one request, file or content; `mirror`, one mirror; `root`, one mirror, whose directory is
 * missing or another one; `store`, everything that writes to the store or the library; `service`, every request; `run`, everything that the
 * run has begun; `program`, the whole process.
 */
export type FailureScope = 'item' | 'mirror' | 'root' | 'store' | 'service' | 'run' | 'program'

/** What the program does about a failure. */
export interface FailureReaction {
  readonly scope: FailureScope
  /** The requested item may be the cause all the same: a further request for no particular item decides. */
  readonly mayBeItem: boolean
  /** A run over several mirrors ends; otherwise it continues with the next mirror. */
  readonly stopsRun: boolean
  /** The state of a mirror controller: it continues by itself, an operator must act, or the daemon ends. */
  readonly state: 'waiting' | 'halted' | 'stopped'
  /** The delay until a mirror controller tries again; null: when the service is tried again, if ever. */
  readonly delayMs: number | null
}

/** What a failure of each kind stops, unless its code is one of `SCOPE_OF_CODE`. */
const SCOPE_OF_KIND = {
  request: 'item',
  file: 'item',
  doubt: 'item',
  usage: 'mirror',
  heldBack: 'mirror',
  access: 'mirror',
  root: 'root',
  temporary: 'service',
  interrupted: 'run',
  locked: 'program',
  operator: 'program',
  internal: 'program',
} as const satisfies Record<ErrorKind, FailureScope>

const SCOPE_OF_CODE: Partial<Record<ErrorCode, FailureScope>> = {
  'root-mismatch': 'root',
  'hook-failed': 'mirror',
  'disk-full': 'store',
  'service-full': 'store',
  'ledger-away': 'store',
  'limit-reached': 'run',
  'connection-closed': 'run',
  'credential-missing': 'service',
  'credential-refused': 'service',
  'certificate-refused': 'service',
  'client-certificate-refused': 'service',
  'redirect-refused': 'service',
  'proxy-refused': 'service',
}

/** Failed answers that the requested item or the service may have caused. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'service-error',
  'service-unavailable',
  'answer-malformed',
  'answer-late',
  'right-missing',
  'redirect-refused',
])

const SOON_MS = 10_000
/** For what only people can resolve. */
const LATER_MS = 15 * 60_000

const REACTIONS = {
  item: { stopsRun: false, state: 'halted', delayMs: LATER_MS },
  mirror: { stopsRun: false, state: 'halted', delayMs: LATER_MS },
  root: { stopsRun: false, state: 'halted', delayMs: SOON_MS },
  store: { stopsRun: true, state: 'waiting', delayMs: SOON_MS },
  service: { stopsRun: true, state: 'waiting', delayMs: null },
  run: { stopsRun: true, state: 'waiting', delayMs: null },
  program: { stopsRun: true, state: 'stopped', delayMs: null },
} as const satisfies Record<FailureScope, Omit<FailureReaction, 'scope' | 'mayBeItem'>>

/**
 * Delays between the attempts of a daemon to connect: a service that is away returns by itself, but people must replace a
 * credential.
 */
export const RECONNECT_POLICIES = {
  away: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 5_000, maxDelayMs: 120_000 },
  refused: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 60_000, maxDelayMs: HOUR_MS },
} as const satisfies Record<string, RetryPolicy>

/** Decides what a failure stops and for how long. `wasConnected`: a connection existed, which the item may have broken. */
export function reactToFailure({
  kind,
  code,
  wasConnected = false,
}: {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly wasConnected?: boolean
}): FailureReaction {
  const scope = SCOPE_OF_CODE[code] ?? SCOPE_OF_KIND[kind]
  const mayBeItem = scope === 'item' || UNCLEAR.has(code) || (code === 'service-unreachable' && wasConnected)
  return { scope, mayBeItem, ...REACTIONS[scope] }
}
