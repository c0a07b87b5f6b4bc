import type { IncomingMessage } from 'node:http'
import { RequestError } from '../errors.ts'

/** The longest body that a client may send. */
export const MAX_BODY_BYTES = 1024 * 1024

/**
 * Returns the JSON of the body; `{}` for an empty body and for GET, whose body is not read.
 * Throws RequestError `too-large` for a body of more than MAX_BODY_BYTES, `invalid` for one that is not JSON.
 */
export async function readInput(request: IncomingMessage): Promise<unknown> {
  const body = request.method === 'POST' ? await readBody(request) : ''
  try {
    return body === '' ? {} : JSON.parse(body)
  } catch {
    throw new RequestError('invalid', 'The body of the request is not JSON', 400)
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_BODY_BYTES)
      throw new RequestError('too-large', `The body of the request has more than ${MAX_BODY_BYTES} bytes`, 413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
