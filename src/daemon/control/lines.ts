import type { Socket } from 'node:net'
import { RejectedError } from '../../foundation/errors.ts'

const NEWLINE = 0x0a
const PAYLOAD_TOO_LARGE = 413

/**
 * The lines of a connection until its other side ends it; an unfinished one at the end is dropped. The socket stays open.
 * Throws RejectedError `too-large` for a line of more than `maxBytes`, of which no more than that is kept.
 */
export async function* readLines(socket: Socket, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    let rest = toBuffer(chunk)
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      checkLength(sizeBytes + end, maxBytes)
      yield Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8')
      rest = rest.subarray(end + 1)
      parts = []
      sizeBytes = 0
    }
    parts.push(rest)
    sizeBytes += rest.length
    checkLength(sizeBytes, maxBytes)
  }
}

/** Sends one line; JSON has no line break of its own. */
export function sendLine(socket: Socket, value: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`)
}

/** The JSON of a line; undefined, which JSON has not, for anything else. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function checkLength(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes > maxBytes)
    throw new RejectedError('too-large', `A line has more than ${maxBytes} bytes`, PAYLOAD_TOO_LARGE)
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk
  throw new TypeError('A socket gives buffers')
}
