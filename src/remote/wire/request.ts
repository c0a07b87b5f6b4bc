import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { RouteName } from '../../contract/routes.ts'
import type { UploadRequest } from '../service-client.ts'
import type { ClientCertificate } from './connector.ts'

export type Query = readonly (readonly [name: string, value: string])[]

/** Where a request goes; the client sends no others. */
export type Target =
  | {
      readonly kind: 'route'
      readonly route: RouteName
      readonly values?: Readonly<Record<string, string>>
      readonly query?: Query
    }
  | { readonly kind: 'description' }
  | { readonly kind: 'raw'; readonly method: string; readonly path: string }

export interface FileBody {
  readonly kind: 'file'
  readonly fileName: string
  readonly mime: string
  readonly sizeBytes: number
  /** Text fields that precede the file. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly open: UploadRequest['openBody']
  readonly fence?: UploadRequest['fence']
}

export type RequestBody = FileBody | { readonly kind: 'json'; readonly value: unknown }

/** One request as an endpoint describes it; the policies add deadlines and callbacks, then the transport sends it. */
export interface ServiceRequest<T> {
  readonly target: Target
  /** Completes `Cannot …` in messages, together with `subject`. */
  readonly verb: string
  readonly subject?: string
  /** The right that the message of a 403 names. */
  readonly right?: string
  /** `always`: the request is idempotent. `if-without-effect`: only if the service cannot have done what was asked. */
  readonly retry: 'always' | 'if-without-effect'
  readonly body?: RequestBody
  /** True if the body of a 200 is returned as a stream. */
  readonly streamed?: boolean
  /** Interprets the answer, or throws the error that it reports: a TransientFailure if a retry may help. */
  readonly read: (response: ServiceResponse, request: ServiceRequest<unknown>) => T | Promise<T>
  readonly signal: AbortSignal | undefined
  /** Monotonic: the deadline of the answer. */
  readonly deadlineMs?: number | undefined
  /** Called when a connection is established and when bytes were sent. */
  readonly onActivity?: () => void
  /** Called when a connection is established, before the first byte leaves. */
  readonly onStart?: () => void
}

/** An answer that is not a redirect; it is complete, except for the `stream` of a streamed request. */
export interface ServiceResponse {
  readonly origin: string
  /** Where the credential came from, if known. */
  readonly tokenSource: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Only for a 200 to a streamed request; `body` is then empty. */
  readonly stream: Readable | undefined
  /** Wall clock: when the answer was complete. */
  readonly receivedAtMs: number
  /** Removes the credential from `text`, in case the service repeats it. */
  readonly redact: (text: string) => string
}

/** Sends a request. The transport and every policy around it (`policies/`) have this type. */
export type Send = <T>(request: ServiceRequest<T>) => Promise<T>

/** Returns the value of a header; the first one if it is repeated. */
export function headerOf(response: ServiceResponse, name: string): string | undefined {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}
