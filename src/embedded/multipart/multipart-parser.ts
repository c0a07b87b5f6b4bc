import { type PartHeaders, readPartHeaders } from './part-headers.ts'

const MAX_HEADER_BYTES = 16 * 1024
const NOTHING = Buffer.alloc(0)

/** The body is not a complete form: nothing of it may be believed. */
export class MalformedFormError extends Error {}

/** Called in the order of the body; the bytes given to `onData` are not used again by the parser. */
export interface PartListener {
  onPart(headers: PartHeaders): void
  onData(bytes: Buffer): void
}

/**
 * Reads `multipart/form-data` from chunks of any size (RFC 7578). It is our own because the usual parser drops parts whose
 * file name has a line break, cuts names at a backslash, and costs three times the rest of a small upload.
 */
export class MultipartParser {
  readonly #delimiter: Buffer
  readonly #listener: PartListener
  #state: 'preamble' | 'after-delimiter' | 'headers' | 'content' | 'end' = 'preamble'
  // The first delimiter has no line break before it: this one stands for it.
  #rest: Buffer = Buffer.from('\r\n')

  constructor(boundary: string, listener: PartListener) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#listener = listener
  }

  /** Throws MalformedFormError. */
  feed(chunk: Buffer): void {
    if (this.#state === 'end') return
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (this.#step()) {
      // Each step takes one thing off the rest.
    }
  }

  /** To be called when the body is over; throws MalformedFormError when its closing delimiter has not come. */
  end(): void {
    if (this.#state !== 'end') throw new MalformedFormError('The form ends before its closing boundary')
  }

  /** False when more bytes are needed. */
  #step(): boolean {
    if (this.#state === 'headers') return this.#readHeaders()
    if (this.#state === 'after-delimiter') return this.#readAfterDelimiter()
    return this.#state !== 'end' && this.#readContent()
  }

  #readContent(): boolean {
    const found = this.#rest.indexOf(this.#delimiter)
    // A delimiter may have begun in the last bytes.
    const endOfContent = found >= 0 ? found : this.#rest.length - this.#delimiter.length + 1
    if (this.#state === 'content' && endOfContent > 0) this.#listener.onData(this.#rest.subarray(0, endOfContent))
    this.#drop(found >= 0 ? found + this.#delimiter.length : Math.max(0, endOfContent))
    if (found >= 0) this.#state = 'after-delimiter'
    return found >= 0
  }

  #readAfterDelimiter(): boolean {
    if (this.#rest.length < 2) return false
    if (this.#rest[0] === 0x2d && this.#rest[1] === 0x2d) {
      this.#state = 'end'
      this.#rest = NOTHING
      return false
    }
    // The line break stays: it ends the list of headers when that is empty.
    if (this.#rest[0] !== 0x0d || this.#rest[1] !== 0x0a)
      throw new MalformedFormError('A boundary is not on its own line')
    this.#state = 'headers'
    return true
  }

  #readHeaders(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end > MAX_HEADER_BYTES || (end < 0 && this.#rest.length > MAX_HEADER_BYTES)) {
      throw new MalformedFormError('The headers of a part are too long')
    }
    if (end < 0) return false
    this.#listener.onPart(readPartHeaders(this.#rest.toString('utf8', 0, end)))
    this.#drop(end + 4)
    this.#state = 'content'
    return true
  }

  #drop(count: number): void {
    this.#rest = this.#rest.subarray(count)
  }
}
