import { createHash } from 'node:crypto'

/** Undefined if the stream is shorter than `sizeBytes` or, without reading on, longer. */
export async function sha256Of(stream: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Buffer | undefined> {
  const hash = createHash('sha256')
  let readBytes = 0
  for await (const chunk of stream) {
    readBytes += chunk.length
    if (readBytes > sizeBytes) return undefined
    hash.update(chunk)
  }
  return readBytes === sizeBytes ? hash.digest() : undefined
}
