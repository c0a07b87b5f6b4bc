import { TemporaryError } from '../../foundation/errors.ts'
import type { Download } from '../service-client.ts'
import { expectStatus } from '../wire/answer-or-refusal.ts'
import { headerOf, type ServiceRequest, type ServiceResponse } from '../wire/request.ts'
import { cannot, finalError, TransientFailure } from '../wire/transient-failure.ts'

/** Returns a 200 as a stream of the original bytes; a transient failure in the stream becomes an error of the family. */
export async function readDownload(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<Download> {
  await expectStatus(response, request, [200])
  const encoding = headerOf(response, 'content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    response.stream?.destroy()
    throw new TemporaryError('answer-malformed', cannot(request, 'the answer has a compression that was not requested'))
  }
  const length = headerOf(response, 'content-length')
  return {
    sizeBytes: length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined,
    mime: headerOf(response, 'content-type'),
    fileName: fileNameOf(headerOf(response, 'content-disposition')),
    body: chunksOf(response.stream ?? [response.body], request, response.origin),
  }
}

async function* chunksOf(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  request: ServiceRequest<unknown>,
  origin: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    throw error instanceof TransientFailure ? finalError(request, error.details, { tries: 1, origin }) : error
  }
}

/** The name in a `Content-Disposition`, `filename*` first (RFC 6266). The service chose it: never use it as a local path. */
function fileNameOf(disposition: string | undefined): string | undefined {
  if (disposition === undefined) return undefined
  const extended = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition)?.[1]
  const decoded = extended === undefined ? undefined : decode(extended)
  if (decoded !== undefined) return decoded
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition)
  return plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
