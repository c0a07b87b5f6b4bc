import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { RouteName } from '../../contract/routes.ts'
import type { UploadBody } from '../service-client.ts'

export type Query = readonly (readonly [name: string, value: string])[]

/** Where a request goes; everything the client can reach is one of these. */
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
  /** Text fields that go before the file. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly open: () => UploadBody | Promise<UploadBody>
}

export type RequestBody = FileBody | { readonly kind: 'json'; readonly value: unknown }

/** One request as an endpoint describes it; it passes the decorators unchanged until the transport sends it. */
export interface ServiceRequest<T> {
  readonly target: Target
  /** Completes `Cannot …` in messages, together with `subject`. */
  readonly verb: string
  readonly subject?: string
  /** What a 403 says is missing. */
  readonly right?: string
  /** `always`: twice is the same as once. `unsent`: tried again only while the service can't have done it. */
  readonly repeat: 'always' | 'unsent'
  readonly body?: RequestBody
  /** The body of a 200 is given as a stream. */
  readonly streamed?: boolean
  /** The answer's meaning; throws the error it stands for, a TransientFailure when another try may mend it. */
  readonly read: (answer: Answer, request: ServiceRequest<unknown>) => T | Promise<T>
  readonly signal: AbortSignal | undefined
  /** Monotonic: when an answer comes too late to be waited for. */
  readonly untilMs?: number | undefined
  /** Called when a connection is made and whenever bytes were sent. */
  readonly onActivity?: () => void
  /** Called when a connection is made and the first byte is about to leave. */
  readonly onStart?: () => void
}

/** A complete answer, other than a redirect. */
export interface Answer {
  /** Of the service that gave it. */
  readonly origin: string
  /** Where the credential that was shown to it comes from, if that was said. */
  readonly tokenSource: string | undefined
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Only of a 200 to a streamed request; `body` is empty then. */
  readonly stream: Readable | undefined
  /** Wall clock, when the answer was complete. */
  readonly receivedAtMs: number
  /** `text` without the credential, should the service repeat it. */
  readonly redact: (text: string) => string
}

/** The one seam of the client: the transport, and each decorator around it, is a function of this shape. */
export type Send = <T>(request: ServiceRequest<T>) => Promise<T>

/** The value of a header, the first one if it was repeated. */
export function headerOf(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value[0] : value
}
