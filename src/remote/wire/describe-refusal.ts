import { AccessError, type CodeOf, RequestError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { parseRetryAfterMs } from '../retry-after.ts'
import { describeClientRefusal } from './describe-certificate.ts'
import { headerOf, type ServiceRequest, type ServiceResponse } from './request.ts'
import { cannot, TransientFailure } from './transient-failure.ts'

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'credential refused',
  403: 'forbidden',
  404: 'not found',
  409: 'conflict',
  413: 'too large',
  415: 'unsupported media type',
  422: 'validation error',
  429: 'too many requests',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
  507: 'its disk is full',
  511: 'this network wants a sign-in with a browser',
}

const REJECTIONS: Readonly<Record<number, CodeOf<'request'>>> = {
  400: 'invalid',
  404: 'not-found',
  409: 'conflict',
  410: 'not-found',
  413: 'too-large',
  422: 'invalid',
}

/** The error for an answer that no retry would change; `said` is what the service says about it. */
export function describeRefusal(response: ServiceResponse, request: ServiceRequest<unknown>, said: string): Error {
  const { status, tokenSource, origin } = response
  const reason = `the service answered ${statusText(status)}${said === '' ? '' : `: ${said}`}`
  if (status === 401) {
    const source = tokenSource === undefined ? '' : `; the token comes from ${escapeText(tokenSource)}`
    return new AccessError('credential-refused', cannot(request, reason + source, origin))
  }
  if (status === 403) {
    const right = request.right ? `; the right "${request.right}" is needed` : ''
    return new AccessError('right-missing', cannot(request, reason + right))
  }
  return new RequestError(REJECTIONS[status] ?? 'request-rejected', cannot(request, reason), status)
}

export function refusedClient(response: ServiceResponse, request: ServiceRequest<unknown>): AccessError {
  const { origin, clientCertificate: own, receivedAtMs: nowMs } = response
  const reason = describeClientRefusal({ code: 'BAD_CERTIFICATE', origin, own, nowMs })
  return new AccessError('client-certificate-refused', cannot(request, reason))
}

/** Statuses of a service that cannot answer now; any other 5xx is a `service-error`. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 502, 503, 504, 511])

export function transientFailureOf(response: ServiceResponse): TransientFailure {
  const throttled = response.status === 429
  const isFull = response.status === 507
  const failed = isFull ? 'service-full' : UNAVAILABLE.has(response.status) ? 'service-unavailable' : 'service-error'
  return new TransientFailure({
    code: throttled ? 'service-throttling' : failed,
    reason: `the service answered ${statusText(response.status)}`,
    cause: [response.status, STATUS_WORDS[response.status]].filter((word) => word !== undefined).join(', '),
    mayHaveTakenEffect: !throttled,
    connected: true,
    // Only a person can free space there.
    final: isFull,
    retryAfterMs: parseRetryAfterMs(headerOf(response, 'retry-after'), answeredAtMs(response)),
  })
}

/** The time of the answer by the service's clock, if known: a date in `Retry-After` refers to that clock. */
function answeredAtMs(response: ServiceResponse): number {
  const dateMs = Date.parse(headerOf(response, 'date') ?? '')
  return Number.isNaN(dateMs) ? response.receivedAtMs : dateMs
}

function statusText(status: number): string {
  const words = STATUS_WORDS[status]
  return words ? `${status} (${words})` : String(status)
}
