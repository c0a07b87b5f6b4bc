import type { ErrorCode, ErrorKind } from '../foundation/errors.ts'
import { HOUR_MS } from '../foundation/text/times.ts'
import type { RetryPolicy } from './retry-delay.ts'

/**
 * What a failure stops: `item`, one request, file or content; `mirror`; `root`, a mirror whose directory is missing or was replaced;
 * `store`, everything that writes to the store; `service`, every request; `run`; `program`.
 */
export type FailureScope = 'item' | 'mirror' | 'root' | 'store' | 'service' | 'run' | 'program'

export interface FailureReaction {
  readonly scope: FailureScope
  /** The item may still be the cause; a request that concerns no item shows whether it is. */
  readonly mayBeItem: boolean
  /** If not, the run continues with the next mirror. */
  readonly stopsRun: boolean
  /** `waiting`: the controller continues by itself; `halted`: it waits for an operator; `stopped`: the daemon ends. */
  readonly state: 'waiting' | 'halted' | 'stopped'
  /** When the controller tries again; null: when the service is tried again, if at all. */
  readonly delayMs: number | null
}

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

/** Either the item or the service may have caused these. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'service-error',
  'service-unavailable',
  'answer-malformed',
  'answer-late',
  'right-missing',
  'redirect-refused',
])

const SOON_MS = 10_000
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

/** A service that is `away` returns by itself. A credential that it `refused` is replaced by a person, so tries are rarer. */
export const RECONNECT_POLICIES = {
  away: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 5_000, maxDelayMs: 120_000 },
  refused: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 60_000, maxDelayMs: HOUR_MS },
} as const satisfies Record<string, RetryPolicy>

/** `wasConnected`: there was a connection, which the item may have broken. */
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
