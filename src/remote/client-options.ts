import type { Dispatcher } from 'undici'
import type { Clock, Random } from '../foundation/clock.ts'
import { UsageError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { isLoopback } from '../foundation/loopback.ts'
import { escapeText } from '../foundation/text.ts'
import type { RetryPolicy } from '../rules/retry-delay.ts'
import type { OutageListener } from './policies/outage.ts'
import type { RetryAfter } from './policies/retry-after.ts'
import type { TunnelProxy } from './wire/proxy.ts'

/** What the user may say about this instance instead of its OpenAPI: the `contract` section of the configuration. */
export interface ContractSettings {
  readonly createDirectory?:
    | 'auto'
    | { readonly path: string }
    | { readonly name: string; readonly parent: string }
    | undefined
  readonly createLibrary?: 'auto' | { readonly name: string; readonly overview?: string | undefined } | undefined
  /** `null`: uploads land in `.inbox` even when the instance offers a field. */
  readonly uploadDirectoryField?: 'auto' | string | null | undefined
}

/** What happened on the wire; `status` is undefined when no answer came. */
export interface RequestObservation {
  readonly route: string
  readonly status: number | undefined
  readonly durationMs: number
}

interface Timeouts {
  /** For a complete answer, counted from the last byte sent and more for large bodies. */
  readonly requestMs: number
  /** An upload that moves no byte for so long is cut. */
  readonly uploadStallMs: number
}

export interface ClientOptions {
  /** Scheme, host and port only; https unless the host is this machine. */
  readonly origin: string
  /** Goes into `Authorization`, to the origin, and nowhere else. */
  readonly token: string
  /** Where it comes from, for the message that it is refused. */
  readonly tokenSource?: string | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Instead of an own pool of sockets. It must call `onRequestStart` before the first byte leaves; it isn't closed. */
  readonly dispatcher?: Dispatcher | undefined
  /** Stands between here and the service; not asked for a service on this computer. */
  readonly proxy?: TunnelProxy | undefined
  /** Authorities whose certificates are trusted (PEM); those of Node if not said. */
  readonly authorities?: readonly string[] | undefined
  /** Bound of sockets. */
  readonly connections: number
  readonly retry?: RetryPolicy | undefined
  readonly timeouts?: Timeouts | undefined
  /** What the service asks for in `Retry-After`, shared with the clients before and after this one; its own if not said. */
  readonly retryAfter?: RetryAfter | undefined
  /** 0: no fixed limit. */
  readonly limits?: { readonly requestsPerSecond: number; readonly bandwidthBytesPerSecond: number } | undefined
  readonly contract?: ContractSettings | undefined
  /** Is told when the service gives no usable answers, and when it does again. */
  readonly onOutage?: OutageListener | undefined
  readonly onRequest?: ((observation: RequestObservation) => void) | undefined
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, firstDelayMs: 500, maxDelayMs: 30_000, forMs: 120_000 }
export const DEFAULT_TIMEOUTS: Timeouts = { requestMs: 60_000, uploadStallMs: 60_000 }

/** The canonical origin of a service; throws UsageError when it isn't one or would send the credential in the clear. */
export function parseOrigin(text: string): string {
  const shown = `"${escapeText(text.replace(/\/\/[^/]*@/, '//…@'))}"`
  const url = URL.parse(text)
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    throw new UsageError('bad-configuration', `Cannot use ${shown} as the service: it is not an https address`)
  }
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password || text.includes('?')) {
    throw new UsageError(
      'bad-configuration',
      `Cannot use ${shown} as the service: only scheme, host and port belong here`,
    )
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError(
      'bad-configuration',
      `Cannot use ${shown} as the service: it must be https, http is for loopback`,
    )
  }
  return url.origin
}

/** The token if a header can carry it; the message never shows it. */
export function parseToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('bad-configuration', 'Cannot use the token: it is empty or has characters no credential has')
}
