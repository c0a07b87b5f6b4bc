import { createHash } from 'node:crypto'

/** The SHA-256 of a stream of exactly `sizeBytes`; undefined if it is shorter, or, without reading on, if it is longer. */
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
