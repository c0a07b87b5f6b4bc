import type { Dispatcher } from 'undici'
import type { Clock, Random } from '../foundation/clock.ts'
import { UsageError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { isLoopback } from '../foundation/network/loopback.ts'
import { escapeText } from '../foundation/text/safe-text.ts'
import type { RetryPolicy } from '../rules/retry-delay.ts'
import type { OutageListener } from './policies/outage.ts'
import type { RetryAfter } from './retry-after.ts'
import type { Capabilities } from './service-client.ts'
import type { ClientCertificate, Whereabouts } from './wire/connector.ts'
import type { TunnelProxy } from './wire/proxy.ts'

/** What the user can set in place of the instance's OpenAPI: the `contract` section of the configuration. */
export interface ContractSettings {
  readonly createDirectory?:
    | 'auto'
    | { readonly path: string }
    | { readonly name: string; readonly parent: string }
    | undefined
  readonly createLibrary?: 'auto' | { readonly name: string; readonly overview?: string | undefined } | undefined
  /** `null`: uploads land in `.inbox` even if the instance has a field for the directory. */
  readonly uploadDirectoryField?: 'auto' | string | null | undefined
}

/** One request on the wire, for metrics; `status` is undefined if no answer came. */
export interface RequestObservation {
  readonly route: string
  readonly status: number | undefined
  readonly durationMs: number
}

interface Timeouts {
  /** From the last byte sent until the answer is complete; large bodies get more time. */
  readonly requestMs: number
  /** The client aborts an upload that moves no byte for this long. */
  readonly uploadStallMs: number
}

/** Limits that the user sets. */
export interface RateLimits {
  /** 0: no limit. */
  readonly requestsPerSecond: number
  /** Returns how many hosts share `requestsPerSecond` now; undefined: only this host uses it. */
  readonly hosts?: (() => number) | undefined
  /** Returns the present limit for the bytes of files, 0 for none; undefined: there is never a limit. */
  readonly bytesPerSecond?: (() => number) | undefined
}

export interface ClientOptions {
  /** Scheme, host and port only; https unless the host is this machine. */
  readonly origin: string
  /** Finds a service on this machine whose address changes, first from `origin`; undefined: the address is fixed. */
  readonly whereabouts?: Whereabouts | undefined
  /** The credential; the client sends it to the origin only, in `Authorization`. */
  readonly token: string
  /** Where the token comes from, for the message of a 401. */
  readonly tokenSource?: string | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Replaces the client's pool of sockets; the client does not close it. It must call `onRequestStart` before the first byte leaves. */
  readonly dispatcher?: Dispatcher | undefined
  /** The proxy to the service; plain HTTP, which stays on this computer, does not use it. */
  readonly proxy?: TunnelProxy | undefined
  /** Authorities whose certificates are trusted (PEM); Node's if undefined. */
  readonly authorities?: readonly string[] | undefined
  /** The certificate that the service demands; a proxy never gets it. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The maximum number of open sockets. */
  readonly connections: number
  readonly retry?: RetryPolicy | undefined
  readonly timeouts?: Timeouts | undefined
  /** The latest `Retry-After`, shared with earlier and later clients of the service; undefined: this client has its own. */
  readonly retryAfter?: RetryAfter | undefined
  readonly limits?: RateLimits | undefined
  readonly contract?: ContractSettings | undefined
  /** If undefined, they are read from the OpenAPI description of the instance. */
  readonly capabilities?: Capabilities | undefined
  /** Receives an outage when the service gives no usable answers, and null when it answers again. */
  readonly onOutage?: OutageListener | undefined
  readonly onRequest?: ((observation: RequestObservation) => void) | undefined
}

export const DEFAULT_TIMEOUTS: Timeouts = { requestMs: 60_000, uploadStallMs: 60_000 }

/** Returns the canonical origin of a service; throws UsageError if `text` is no origin, or would send the credential unencrypted. */
export function parseOrigin(text: string): string {
  const shown = `"${escapeText(text.replace(/\/\/[^/]*@/, '//…@'))}"`
  const refuse = (why: string) => new UsageError('bad-configuration', `Cannot use ${shown} as the service: ${why}`)
  const url = URL.parse(text)
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw refuse('it is not an https address')
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password || text.includes('?'))
    throw refuse('only scheme, host and port belong here')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw refuse('it must be https; http is allowed only on this computer')
  return url.origin
}

/** Returns `token` if a header can carry it; otherwise throws UsageError, whose message never shows the token. */
export function parseToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  const reason = 'it is empty or has characters that no token can have'
  throw new UsageError('bad-configuration', `Cannot use the token: ${reason}`)
}
