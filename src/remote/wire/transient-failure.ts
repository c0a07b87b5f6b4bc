import type { Clock } from '../../foundation/clock.ts'
import {
  AccessError,
  DoubtError,
  InterruptedError,
  type ServiceFailureCode,
  ShelfdError,
  systemCodeOf,
  TemporaryError,
} from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { ClientCertificate } from './connector.ts'
import { describeCertificateFault, describeClientRefusal } from './describe-certificate.ts'
import { nameOf, ProxyFailure, type TunnelProxy } from './proxy.ts'
import type { ServiceRequest } from './request.ts'
import { CertificateFailure, describeNetworkError, isOfCertificate, isOfOurCertificate } from './sockets.ts'

export interface FailureDetails {
  readonly code: ServiceFailureCode
  readonly reason: string
  /** The reason in few words, for parentheses. */
  readonly cause?: string
  /** True: the service may have carried out the request. */
  readonly mayHaveTakenEffect: boolean
  readonly connected: boolean
  readonly retryAfterMs?: number | undefined
  /** The duration of the failed try. */
  readonly triedForMs?: number
  /** Monotonic: the deadline of the request, as the try received it. */
  readonly deadlineMs?: number | undefined
  /** True: a retry would fail in the same way. */
  readonly final?: boolean
}

/** Thrown for a failed try that a retry may fix; withRetries converts the last one into a ShelfdError. */
export class TransientFailure extends Error {
  readonly details: FailureDetails

  constructor(details: FailureDetails) {
    super(details.reason)
    this.details = details
  }
}

/** Builds a message: `Cannot upload "a.md": the service answered 413 (too large)`. */
export function cannot(request: Pick<ServiceRequest<unknown>, 'verb' | 'subject'>, reason: string, at = ''): string {
  const subject = request.subject === undefined ? '' : ` "${escapeText(truncateText(request.subject, 300))}"`
  return `Cannot ${request.verb}${subject}${at === '' ? '' : ` at ${at}`}: ${reason}`
}

interface GivenUp {
  readonly tries: number
  readonly origin: string
  /** Until when the service asks to wait, in words. */
  readonly waitUntil?: string | undefined
  /** The option that allows less time than the service asks for, in words. */
  readonly limit?: string | undefined
}

/** Returns the error of a request to the service at `origin` that failed and is not retried. */
export function finalError(
  request: ServiceRequest<unknown>,
  details: FailureDetails,
  { tries, origin, waitUntil, limit }: GivenUp,
): Error {
  const reason = tries > 1 ? `${details.reason}, ${tries} times` : details.reason
  if (details.mayHaveTakenEffect && request.body?.kind === 'file') {
    return new DoubtError(cannot(request, reason), details.code)
  }
  const bound = limit === undefined ? '' : `, which is beyond ${limit}; run the command again after that time`
  const asked = waitUntil === undefined ? '' : `; it asks to wait until ${waitUntil}${bound}`
  return new TemporaryError(details.code, cannot(request, reason + asked, origin), { wasConnected: details.connected })
}

/** Returns the error of an aborted request: DoubtError if an upload may have arrived, otherwise InterruptedError. */
export function interruption(request: ServiceRequest<unknown>, mayHaveTakenEffect: boolean): Error {
  if (!mayHaveTakenEffect || request.body?.kind !== 'file') return new InterruptedError()
  return new DoubtError(cannot(request, 'interrupted'), 'interrupted')
}

export function interruptIfAborted(request: ServiceRequest<unknown>): void {
  if (request.signal?.aborted) throw interruption(request, false)
}

/** How a request reaches the service. */
export interface Wire {
  readonly origin: string
  readonly proxy: TunnelProxy | undefined
  /** The certificate that this client shows to the service; undefined: none. */
  readonly clientCertificate: ClientCertificate | undefined
  readonly clock: Clock
}

type WireState = Pick<FailureDetails, 'connected' | 'mayHaveTakenEffect'>

/** Converts an error of undici. The result omits the message of undici, which may contain bytes of the answer. */
export function networkError(request: ServiceRequest<unknown>, thrown: unknown, state: WireState, wire: Wire): Error {
  if (thrown instanceof ShelfdError) return thrown
  const code = systemCodeOf(thrown) ?? 'unknown error'
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED') return closedClient(request, state)
  if (isOfCertificate(code)) return refusedCertificate(request, thrown, code, wire)
  if (isOfOurCertificate(code)) return refusedClient(request, code, state, wire)
  if (thrown instanceof ProxyFailure) return proxyError(request, thrown, wire)
  if (thrown instanceof Error && thrown.name === 'HTTPParserError') {
    return new TransientFailure({ ...state, code: 'answer-malformed', reason: 'the answer is not HTTP' })
  }
  const cause = describeNetworkError(code)
  const through = wire.proxy ? ` through ${nameOf(wire.proxy)}` : ''
  const failure = state.connected
    ? `the connection to the service${through} broke`
    : `the service cannot be reached${through}`
  return new TransientFailure({ ...state, code: 'service-unreachable', cause, reason: `${failure} (${cause})` })
}

const CLOSED =
  'shelfd closed its connection to the service meanwhile, as it does when another request failed or the computer slept'

/** Returns the error of a request whose client was closed: an interruption only if the request's own signal is aborted. */
function closedClient(request: ServiceRequest<unknown>, { mayHaveTakenEffect }: WireState): Error {
  if (request.signal?.aborted) return interruption(request, mayHaveTakenEffect)
  // The file did not cause this, so the library is searched for it as after an interruption.
  if (mayHaveTakenEffect && request.body?.kind === 'file') return new DoubtError(cannot(request, CLOSED), 'interrupted')
  return new TemporaryError('connection-closed', cannot(request, CLOSED))
}

/** Returns the failure of a request whose deadline passed before there was a connection. */
export function noConnection({ proxy }: Pick<Wire, 'proxy'>): TransientFailure {
  const cause = proxy ? `no connection in time through ${nameOf(proxy)}` : describeNetworkError('ETIMEDOUT')
  const reason = `the service cannot be reached (${cause})`
  return new TransientFailure({ ...NOT_CONNECTED, code: 'service-unreachable', cause, reason })
}

const NOT_CONNECTED: WireState = { connected: false, mayHaveTakenEffect: false }

function proxyError(request: ServiceRequest<unknown>, failure: ProxyFailure, { proxy, clock }: Wire): Error {
  if (failure.cause instanceof CertificateFailure && proxy) {
    const owner = { origin: proxy.origin, owner: nameOf(proxy), clock }
    return refusedCertificate(request, failure.cause, failure.cause.code, owner)
  }
  if (failure.isFinal) return new AccessError('proxy-refused', cannot(request, failure.message))
  return new TransientFailure({ ...NOT_CONNECTED, code: 'service-unreachable', reason: failure.message })
}

/** Returns the error for a refused client certificate; a doubt if, as with TLS 1.3, bytes of an upload may have left before. */
function refusedClient(
  request: ServiceRequest<unknown>,
  code: string,
  { mayHaveTakenEffect }: WireState,
  wire: Wire,
): Error {
  const { origin, clientCertificate: own, clock } = wire
  const reason = cannot(request, describeClientRefusal({ code, origin, own, nowMs: clock.nowMs() }))
  if (mayHaveTakenEffect && request.body?.kind === 'file') return new DoubtError(reason, 'client-certificate-refused')
  return new AccessError('client-certificate-refused', reason)
}

function refusedCertificate(
  request: ServiceRequest<unknown>,
  thrown: unknown,
  code: string,
  { origin, owner = origin, clock }: Pick<Wire, 'origin' | 'clock'> & { readonly owner?: string },
): AccessError {
  const shown = thrown instanceof CertificateFailure ? thrown.shown : undefined
  const { hostname: host } = new URL(origin)
  const reason = describeCertificateFault({ code, shown, host, owner, nowMs: clock.nowMs() })
  return new AccessError('certificate-refused', cannot(request, reason))
}
