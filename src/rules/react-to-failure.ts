import type { ErrorCode, ErrorKind } from '../foundation/errors.ts'
import { HOUR_MS } from '../foundation/text/times.ts'
import type { RetryPolicy } from './retry-delay.ts'

/**
 * What a failure stops: `item`, one request, file or content; `mirror`; `root`, a mirror whose directory is missing or another one;
 * `store`, all writing; `service`, every request; `run`; `program`.
 */
export type FailureScope = 'item' | 'mirror' | 'root' | 'store' | 'service' | 'run' | 'program'

export interface FailureReaction {
  readonly scope: FailureScope
  /** The item may still be the cause, which a request for no item decides. */
  readonly mayBeItem: boolean
  /** Otherwise the run continues with the next mirror. */
  readonly stopsRun: boolean
  /** A controller continues by itself, waits for an operator, or the daemon ends. */
  readonly state: 'waiting' | 'halted' | 'stopped'
  /** Null: when the service is tried again, if ever. */
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

/** The item or the service may have caused these. */
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

/** A service that is away returns by itself; a credential must be replaced by a person. */
export const RECONNECT_POLICIES = {
  away: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 5_000, maxDelayMs: 120_000 },
  refused: { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 60_000, maxDelayMs: HOUR_MS },
} as const satisfies Record<string, RetryPolicy>

/** `wasConnected`: the item may have broken an existing connection. */
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
