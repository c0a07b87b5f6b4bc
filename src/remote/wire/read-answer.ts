import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { z } from 'zod'
import { type ErrorText, readErrorBody } from '../../contract/error-body.ts'
import { AccessError, type CodeOf, RequestError } from '../../foundation/errors.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { parseRetryAfterMs } from '../retry-after.ts'
import { describeClientRefusal } from './certificate-words.ts'
import { BODY_LIMIT_BYTES } from './exchange.ts'
import { type Answer, headerOf, type ServiceRequest } from './request.ts'
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

/** Returns a reader of answers with one of `statuses` and JSON of `shape`; other answers become errors (section 7). */
export function jsonOf<T>(shape: z.ZodType<T>, statuses: readonly number[] = [200]) {
  const read = (body: unknown): T => {
    const parsed = shape.safeParse(body, { error: describeIssue })
    if (parsed.success) return parsed.data
    const issue = parsed.error.issues[0]
    const where = issue?.path.join('.') || 'the answer'
    throw malformed(`the answer does not match the interface: ${where} ${issue?.message}`)
  }
  return (answer: Answer, request: ServiceRequest<unknown>): T | Promise<T> => {
    // The answer to almost every upload, which takes no promise to read.
    if (statuses.includes(answer.status) && packingOf(answer) === undefined) return read(jsonIn(answer, answer.body))
    return readLater(answer, request)
  }

  async function readLater(answer: Answer, request: ServiceRequest<unknown>): Promise<T> {
    await expectStatus(answer, request, statuses)
    return read(await parseJson(answer))
  }
}

/** Throws the error of any other status: TransientFailure (429, 5xx …), AccessError (401, 403) or RequestError. */
export async function expectStatus(
  answer: Answer,
  request: ServiceRequest<unknown>,
  statuses: readonly number[],
): Promise<void> {
  const { status } = answer
  if (statuses.includes(status)) return
  if (status < 400) throw malformed(`the service answered ${status}, which the interface does not define here`)
  if (status === 429 || status >= 500 || status === 408 || status === 425) throw transientFailureOf(answer)
  if (status === 400 && (await isAboutClientCertificate(answer))) throw refusedClient(answer, request)
  const reason = await describeRefusal(answer)
  if (status === 401) {
    const source = answer.tokenSource === undefined ? '' : `; the token comes from ${escapeText(answer.tokenSource)}`
    throw new AccessError('credential-refused', cannot(request, reason + source, answer.origin))
  }
  if (status === 403) {
    const right = request.right ? `; the right "${request.right}" is needed` : ''
    throw new AccessError('right-missing', cannot(request, reason + right))
  }
  throw new RequestError(REJECTIONS[status] ?? 'request-rejected', cannot(request, reason), status)
}

/** nginx lets a client without a trusted certificate finish the handshake, and answers each request with a page of its own. */
async function isAboutClientCertificate(answer: Answer): Promise<boolean> {
  const page = await bytesOf(answer).catch(() => Buffer.alloc(0))
  return isHtml(answer, page) && /<title>400 [^<]*SSL certificate/.test(page.toString('latin1'))
}

function refusedClient(answer: Answer, request: ServiceRequest<unknown>): AccessError {
  const { origin, clientCertificate: own, receivedAtMs: nowMs } = answer
  const reason = describeClientRefusal({ code: 'BAD_CERTIFICATE', origin, own, nowMs })
  return new AccessError('client-certificate-refused', cannot(request, reason))
}

/** The JSON of an answer; throws TransientFailure if it is not JSON, compressed but not by gzip, or too long. */
export async function parseJson(answer: Answer): Promise<unknown> {
  return jsonIn(answer, await bytesOf(answer))
}

function jsonIn(answer: Answer, bytes: Buffer): unknown {
  try {
    // If the service repeats the credential, the store must not get it.
    return JSON.parse(answer.redact(bytes.toString('utf8')))
  } catch {
    throw isHtml(answer, bytes) ? malformed(`the answer is ${HTML}`, HTML) : malformed('the answer is not JSON')
  }
}

async function bytesOf(answer: Answer): Promise<Buffer> {
  const packing = packingOf(answer)
  return packing === undefined ? answer.body : await unpack(answer.body, packing)
}

function packingOf(answer: Answer): string | undefined {
  const encoding = headerOf(answer, 'content-encoding')
  return encoding === 'identity' ? undefined : encoding
}

const HTML = 'HTML instead of JSON; perhaps a login page or another server answers there'

function isHtml(answer: Answer, bytes: Buffer): boolean {
  return headerOf(answer, 'content-type')?.startsWith('text/html') === true || bytes.subarray(0, 1).toString() === '<'
}

const unzip = promisify(gunzip)

async function unpack(body: Buffer, encoding: string): Promise<Buffer> {
  if (encoding.toLowerCase() !== 'gzip') throw malformed('the answer has a compression that was not requested')
  try {
    return await unzip(body, { maxOutputLength: BODY_LIMIT_BYTES })
  } catch {
    throw malformed('the answer is badly compressed or too long')
  }
}

/** The failure for an answer that does not fit the request; `cause` is a short reason for parentheses. */
export function malformed(reason: string, cause = reason): TransientFailure {
  const words = { reason: escapeText(reason), cause: escapeText(cause) }
  return new TransientFailure({ code: 'answer-malformed', ...words, mayHaveTakenEffect: true, connected: true })
}

/** Statuses of a service that cannot answer now; any other 5xx is a `service-error`. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 502, 503, 504, 507, 511])

function transientFailureOf(answer: Answer): TransientFailure {
  const throttled = answer.status === 429
  const failed = UNAVAILABLE.has(answer.status) ? 'service-unavailable' : 'service-error'
  return new TransientFailure({
    code: throttled ? 'service-throttling' : failed,
    reason: `the service answered ${statusText(answer.status)}`,
    cause: [answer.status, STATUS_WORDS[answer.status]].filter((word) => word !== undefined).join(', '),
    mayHaveTakenEffect: !throttled,
    connected: true,
    retryAfterMs: parseRetryAfterMs(headerOf(answer, 'retry-after'), answeredAtMs(answer)),
  })
}

/** The time of the answer by the service's clock, if known: a date in `Retry-After` refers to that clock. */
function answeredAtMs(answer: Answer): number {
  const dateMs = Date.parse(headerOf(answer, 'date') ?? '')
  return Number.isNaN(dateMs) ? answer.receivedAtMs : dateMs
}

async function describeRefusal(answer: Answer): Promise<string> {
  const body = await parseJson(answer).then(readErrorBody, () => ({ text: undefined, fields: [] }) satisfies ErrorText)
  const words = [body.text, ...body.fields].filter((text) => text !== undefined && text !== '').join('; ')
  const shown = escapeText(truncateText(answer.redact(words), 600))
  return `the service answered ${statusText(answer.status)}${shown === '' ? '' : `: ${shown}`}`
}

function statusText(status: number): string {
  const words = STATUS_WORDS[status]
  return words ? `${status} (${words})` : String(status)
}
