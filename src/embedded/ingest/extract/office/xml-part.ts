import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { Parser, type ParserOptions } from 'htmlparser2'
import { packedBytesOf, type ZipEntry } from './zip.ts'

export interface XmlListener {
  onOpen?(name: string, attributes: Readonly<Record<string, string>>): void
  onText?(text: string): void
  onClose?(name: string): void
}

/** A part may not unpack to more than it declares, which `checkArchive` has seen. */
const SLACK_BYTES = 1024
const XML: ParserOptions = { xmlMode: true, decodeEntities: true }

/** Reads one XML file of an archive piece by piece, names without their prefix; `drain` is awaited after each piece. */
export async function readXmlPart(
  zip: Buffer,
  entry: ZipEntry,
  listener: XmlListener,
  drain: () => Promise<void> | void = () => {},
): Promise<void> {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => listener.onOpen?.(localName(name), attributes),
      ontext: (text) => listener.onText?.(text),
      onclosetag: (name) => listener.onClose?.(localName(name)),
    },
    XML,
  )
  const decoder = new TextDecoder()
  let unpackedBytes = 0
  for await (const chunk of unpack(zip, entry)) {
    unpackedBytes += chunk.length
    if (unpackedBytes > entry.declaredBytes + SLACK_BYTES) {
      throw new Error(`The document is damaged: "${entry.name}" unpacks to more than it declares`)
    }
    parser.write(decoder.decode(chunk, { stream: true }))
    await drain()
  }
  parser.end()
}

function unpack(zip: Buffer, entry: ZipEntry): AsyncIterable<Buffer> {
  const packed = Readable.from([packedBytesOf(zip, entry)])
  return entry.isDeflated ? packed.pipe(createInflateRaw()) : packed
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
