import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { z } from 'zod'
import { type ErrorText, readErrorBody } from '../../contract/records.ts'
import { AccessError, type CodeOf, RequestError } from '../../foundation/errors.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { parseRetryAfterMs } from '../retry-after.ts'
import { describeClientRefusal } from './describe-certificate.ts'
import { BODY_LIMIT_BYTES } from './exchange.ts'
import { headerOf, type ServiceRequest, type ServiceResponse } from './request.ts'
import { cannot, TransientFailure } from './transient-failure.ts'

/** Returns a reader of answers with one of `statuses` and JSON of `shape`; other answers become errors. */
export function jsonOf<T>(shape: z.ZodType<T>, statuses: readonly number[] = [200]) {
  const read = (body: unknown): T => {
    const parsed = shape.safeParse(body, { error: describeIssue })
    if (parsed.success) return parsed.data
    const issue = parsed.error.issues[0]
    const where = issue?.path.join('.') || 'the answer'
    throw malformed(`the answer does not match the interface: ${where} ${issue?.message}`)
  }
  return (response: ServiceResponse, request: ServiceRequest<unknown>): T | Promise<T> => {
    // Almost every upload gets such an answer, and reading it without a promise saves time.
    if (statuses.includes(response.status) && compressionOf(response) === undefined)
      return read(jsonIn(response, response.body))
    return readLater(response, request)
  }

  async function readLater(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<T> {
    await expectStatus(response, request, statuses)
    return read(await parseJson(response))
  }
}

/** Throws an error for any other status: TransientFailure (429, 5xx …), AccessError (401, 403) or RequestError. */
export async function expectStatus(
  response: ServiceResponse,
  request: ServiceRequest<unknown>,
  statuses: readonly number[],
): Promise<void> {
  const { status } = response
  if (statuses.includes(status)) return
  if (status < 400) throw malformed(`the service answered ${status}, which the interface does not define here`)
  if (status === 429 || status >= 500 || status === 408 || status === 425) throw transientFailureOf(response)
  if (status === 400 && (await isAboutClientCertificate(response))) throw refusedClient(response, request)
  throw describeRefusal(response, request, await readErrorText(response))
}

/** Statuses of a service that cannot answer now; any other 5xx is a `service-error`. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 502, 503, 504, 511])

function transientFailureOf(response: ServiceResponse): TransientFailure {
  const throttled = response.status === 429
  const isFull = response.status === 507
  const failed = isFull ? 'service-full' : UNAVAILABLE.has(response.status) ? 'service-unavailable' : 'service-error'
  return new TransientFailure({
    code: throttled ? 'service-throttling' : failed,
    reason: `the service answered ${statusText(response.status)}`,
    cause: [response.status, STATUS_WORDS[response.status]].filter((word) => word !== undefined).join(', '),
    mayHaveTakenEffect: !throttled,
    connected: true,
    // Only a person can free space on the disk of the service.
    final: isFull,
    retryAfterMs: parseRetryAfterMs(headerOf(response, 'retry-after'), answeredAtMs(response)),
  })
}

/** Returns the time of the answer, by the service's clock if it sends it, because a date in `Retry-After` refers to that clock. */
function answeredAtMs(response: ServiceResponse): number {
  const dateMs = Date.parse(headerOf(response, 'date') ?? '')
  return Number.isNaN(dateMs) ? response.receivedAtMs : dateMs
}

/** Returns whether the answer is nginx's page for a client without a trusted certificate, whose handshake nginx lets succeed. */
async function isAboutClientCertificate(response: ServiceResponse): Promise<boolean> {
  const page = await bytesOf(response).catch(() => Buffer.alloc(0))
  return isHtml(response, page) && /<title>400 [^<]*SSL certificate/.test(page.toString('latin1'))
}

function refusedClient(response: ServiceResponse, request: ServiceRequest<unknown>): AccessError {
  const { origin, clientCertificate: own, receivedAtMs: nowMs } = response
  const reason = describeClientRefusal({ code: 'BAD_CERTIFICATE', origin, own, nowMs })
  return new AccessError('client-certificate-refused', cannot(request, reason))
}

const REJECTIONS: Readonly<Record<number, CodeOf<'request'>>> = {
  400: 'invalid',
  404: 'not-found',
  409: 'conflict',
  410: 'not-found',
  413: 'too-large',
  422: 'invalid',
}

/** Returns the error for an answer that no retry would change; `said` is the service's own explanation, or empty. */
function describeRefusal(response: ServiceResponse, request: ServiceRequest<unknown>, said: string): Error {
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

/** Returns what the service says about an error, or an empty text. */
async function readErrorText(response: ServiceResponse): Promise<string> {
  const body = await parseJson(response).then(
    readErrorBody,
    () => ({ text: undefined, fields: [] }) satisfies ErrorText,
  )
  const words = [body.text, ...body.fields].filter((text) => text !== undefined && text !== '').join('; ')
  return escapeText(truncateText(response.redact(words), 600))
}

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

function statusText(status: number): string {
  const words = STATUS_WORDS[status]
  return words ? `${status} (${words})` : String(status)
}

/** Returns the JSON of an answer; throws TransientFailure if it is not JSON, compressed but not by gzip, or too long. */
export async function parseJson(response: ServiceResponse): Promise<unknown> {
  return jsonIn(response, await bytesOf(response))
}

function jsonIn(response: ServiceResponse, bytes: Buffer): unknown {
  try {
    // The answer may repeat the credential, which must not get into the store.
    return JSON.parse(response.redact(bytes.toString('utf8')))
  } catch {
    throw isHtml(response, bytes) ? malformed(`the answer is ${HTML}`, HTML) : malformed('the answer is not JSON')
  }
}

async function bytesOf(response: ServiceResponse): Promise<Buffer> {
  const compression = compressionOf(response)
  return compression === undefined ? response.body : await decompress(response.body, compression)
}

function compressionOf(response: ServiceResponse): string | undefined {
  const encoding = headerOf(response, 'content-encoding')
  return encoding === 'identity' ? undefined : encoding
}

const HTML = 'HTML instead of JSON; perhaps a login page or another server answers there'

function isHtml(response: ServiceResponse, bytes: Buffer): boolean {
  return headerOf(response, 'content-type')?.startsWith('text/html') === true || bytes.subarray(0, 1).toString() === '<'
}

const unzip = promisify(gunzip)

async function decompress(body: Buffer, compression: string): Promise<Buffer> {
  if (compression.toLowerCase() !== 'gzip') throw malformed('the answer has a compression that was not requested')
  try {
    return await unzip(body, { maxOutputLength: BODY_LIMIT_BYTES })
  } catch {
    throw malformed('the answer is badly compressed or too long')
  }
}

/** Returns the failure for an answer that does not fit the request; `cause` is a short reason, shown in parentheses. */
export function malformed(reason: string, cause = reason): TransientFailure {
  const words = { reason: escapeText(reason), cause: escapeText(cause) }
  return new TransientFailure({ code: 'answer-malformed', ...words, mayHaveTakenEffect: true, connected: true })
}
