import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { z } from 'zod'
import { type ErrorText, readErrorBody } from '../../contract/error-body.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { describeRefusal, refusedClient, transientFailureOf } from './describe-refusal.ts'
import { BODY_LIMIT_BYTES } from './exchange.ts'
import { headerOf, type ServiceRequest, type ServiceResponse } from './request.ts'
import { TransientFailure } from './transient-failure.ts'

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
    // Almost every upload is answered so; reading without a promise saves time.
    if (statuses.includes(response.status) && packingOf(response) === undefined)
      return read(jsonIn(response, response.body))
    return readLater(response, request)
  }

  async function readLater(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<T> {
    await expectStatus(response, request, statuses)
    return read(await parseJson(response))
  }
}

/** Throws the error of any other status: TransientFailure (429, 5xx …), AccessError (401, 403) or RequestError. */
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

/** nginx lets a client without a trusted certificate finish the handshake, and answers each request with a page of its own. */
async function isAboutClientCertificate(response: ServiceResponse): Promise<boolean> {
  const page = await bytesOf(response).catch(() => Buffer.alloc(0))
  return isHtml(response, page) && /<title>400 [^<]*SSL certificate/.test(page.toString('latin1'))
}

/** The JSON of an answer; throws TransientFailure if it is not JSON, compressed but not by gzip, or too long. */
export async function parseJson(response: ServiceResponse): Promise<unknown> {
  return jsonIn(response, await bytesOf(response))
}

function jsonIn(response: ServiceResponse, bytes: Buffer): unknown {
  try {
    // The service may repeat the credential, which must not get into the store.
    return JSON.parse(response.redact(bytes.toString('utf8')))
  } catch {
    throw isHtml(response, bytes) ? malformed(`the answer is ${HTML}`, HTML) : malformed('the answer is not JSON')
  }
}

async function bytesOf(response: ServiceResponse): Promise<Buffer> {
  const packing = packingOf(response)
  return packing === undefined ? response.body : await unpack(response.body, packing)
}

function packingOf(response: ServiceResponse): string | undefined {
  const encoding = headerOf(response, 'content-encoding')
  return encoding === 'identity' ? undefined : encoding
}

const HTML = 'HTML instead of JSON; perhaps a login page or another server answers there'

function isHtml(response: ServiceResponse, bytes: Buffer): boolean {
  return headerOf(response, 'content-type')?.startsWith('text/html') === true || bytes.subarray(0, 1).toString() === '<'
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

/** The failure for an answer that does not fit the request; `cause` is a short reason, shown in parentheses. */
export function malformed(reason: string, cause = reason): TransientFailure {
  const words = { reason: escapeText(reason), cause: escapeText(cause) }
  return new TransientFailure({ code: 'answer-malformed', ...words, mayHaveTakenEffect: true, connected: true })
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
