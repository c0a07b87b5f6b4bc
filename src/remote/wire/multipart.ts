import type { Socket } from 'node:net'
import type { Random } from '../../foundation/clock.ts'
import { FileError } from '../../foundation/errors.ts'
import type { UploadBody } from '../service-client.ts'
import type { FileBody } from './request.ts'
import { cannot } from './transient-failure.ts'

/** A file up to this size is sent as one buffer in one write. */
const ONE_WRITE_BYTES = 1 << 17
const CHUNK_BYTES = 1 << 18

/** Thrown if the body failed, not the connection; `cause` is what the body threw. */
export class SourceFailure extends Error {
  constructor(cause: unknown) {
    super('the body failed', { cause })
  }
}

/** A request body ready to send; it has exactly `sizeBytes` or fails. */
export interface Payload {
  readonly contentType: string
  readonly sizeBytes: number
  readonly content: Buffer | AsyncIterable<Uint8Array>
  /** Releases what the body holds open. Call it however the request ends. */
  release(): void
}

/**
 * Encodes `multipart/form-data`: the text fields first, then the file in the field `file`. Reads the first chunk, so
 * that an unreadable file costs no request. Throws what the body throws; FileError('busy') if its length is not as declared.
 * A small file is read into one buffer with head and tail, which must be given back to `buffers`.
 */
export function openMultipart(body: FileBody, random: Random, buffers?: UploadBuffers): Payload | Promise<Payload> {
  const boundary = makeBoundary(random)
  const head = Buffer.from(headText(body, boundary))
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const frame = {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.length + body.sizeBytes + tail.length,
  }
  const take = buffers?.take ?? Buffer.allocUnsafeSlow
  const content = body.sizeBytes <= ONE_WRITE_BYTES ? take(frame.sizeBytes) : undefined
  const room = content?.subarray(head.length, head.length + body.sizeBytes)
  const enclose = (opened: UploadBody): Payload | Promise<Payload> => {
    if (!content || !(opened instanceof Uint8Array)) return openChunks(body, opened, { ...frame, head, tail, buffers })
    if (opened.length !== body.sizeBytes) throw changedLength(body)
    content.set(head)
    if (opened !== room) content.set(opened, head.length)
    content.set(tail, head.length + opened.length)
    return { ...frame, content, release() {} }
  }
  const opened = body.open((sizeBytes) => (sizeBytes === room?.length ? room : take(sizeBytes)))
  // A small file is already read, so that no promise delays it.
  return opened instanceof Promise ? opened.then(enclose) : enclose(opened)
}

interface Frame {
  readonly contentType: string
  readonly sizeBytes: number
  readonly head: Buffer
  readonly tail: Buffer
  readonly buffers: UploadBuffers | undefined
}

async function openChunks(body: FileBody, opened: UploadBody, frame: Frame): Promise<Payload> {
  const { contentType, sizeBytes } = frame
  const chunks = (opened instanceof Uint8Array ? slices(opened) : opened)[Symbol.asyncIterator]()
  const first = await chunks.next()
  const release = () => void chunks.return?.().catch(() => {})
  return { contentType, sizeBytes, content: framed(frame, first, chunks, body), release }
}

/** Encodes a name as browsers do (WHATWG, RFC 7578): UTF-8 bytes, only quotes and line ends escaped. */
function escapeName(name: string): string {
  return name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
}

function headText(body: FileBody, boundary: string): string {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name=`
  const fields = body.fields.map(([name, value]) => `${disposition}"${escapeName(name)}"\r\n\r\n${value}\r\n`)
  const mime = /^[\x20-\x7e]+$/.test(body.mime) ? body.mime : 'application/octet-stream'
  return `${fields.join('')}${disposition}"file"; filename="${escapeName(body.fileName)}"\r\nContent-Type: ${mime}\r\n\r\n`
}

function makeBoundary(random: Random): string {
  const part = () => Math.floor(random() * 2 ** 30).toString(36)
  return `shelfd-${part()}-${part()}-${part()}-${part()}`
}

async function* framed(
  { head, tail, buffers }: Frame,
  first: IteratorResult<Uint8Array>,
  chunks: AsyncIterator<Uint8Array>,
  body: FileBody,
): AsyncGenerator<Uint8Array> {
  yield head
  let sentBytes = 0
  for (let next = first; !next.done; next = await nextChunk(chunks)) {
    sentBytes += next.value.length
    if (sentBytes > body.sizeBytes) throw new SourceFailure(changedLength(body))
    if (sentBytes === body.sizeBytes) await passFence(body)
    yield next.value
    // The connection asked for the next chunk, so it has sent this one.
    buffers?.giveBack(next.value)
  }
  if (sentBytes !== body.sizeBytes) throw new SourceFailure(changedLength(body))
  await passFence(body)
  yield tail
}

async function passFence({ fence }: FileBody): Promise<void> {
  try {
    while (fence && !fence.isOpen()) await fence.waitUntilOpen()
  } catch (error) {
    throw new SourceFailure(error)
  }
}

async function nextChunk(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next()
  } catch (error) {
    throw new SourceFailure(error)
  }
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES)
}

function changedLength(body: FileBody): FileError {
  const request = { verb: 'upload', subject: body.fileName }
  return new FileError('busy', cannot(request, 'it changed its length while it was read'))
}

/** Enough for a chunk of a large file, and for a small file with head and tail. */
const BUFFER_BYTES = CHUNK_BYTES + (1 << 13)
const MAX_FREE_BUFFERS = 32

/**
 * Lends buffers to uploads again and again, because V8 frees a long-lived buffer only when it marks its whole heap. A service may answer
 * before it has read a request: a buffer is lent again only when each connection that had unwritten bytes has written them (P10).
 */
export class UploadBuffers {
  readonly #sockets = new Set<Socket>()
  readonly #lent = new WeakSet<ArrayBufferLike>()
  /** Buffers that were given back. `busy`: the connections that have had bytes to write ever since. */
  readonly #free: { readonly buffer: Buffer; busy: readonly Socket[] }[] = []

  /** Call it for every connection that the buffers are written to. */
  watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Returns a buffer of exactly this size, with any content. */
  readonly take = (sizeBytes: number): Buffer => {
    if (sizeBytes > BUFFER_BYTES) return Buffer.allocUnsafeSlow(sizeBytes)
    for (const free of this.#free) free.busy = this.#listBusy(free.busy)
    const written = this.#free.findIndex(({ busy }) => busy.length === 0)
    const [{ buffer } = { buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES) }] =
      written < 0 ? [] : this.#free.splice(written, 1)
    this.#lent.add(buffer.buffer)
    return buffer.subarray(0, sizeBytes)
  }

  /** Takes a buffer back, from which only the connections may still read. */
  giveBack({ buffer }: Uint8Array): void {
    if (!this.#lent.delete(buffer) || this.#free.length >= MAX_FREE_BUFFERS) return
    this.#free.push({ buffer: Buffer.from(buffer), busy: this.#listBusy([...this.#sockets]) })
  }

  #listBusy(sockets: readonly Socket[]): readonly Socket[] {
    return sockets.filter((socket) => socket.writableLength > 0 && this.#sockets.has(socket))
  }
}
