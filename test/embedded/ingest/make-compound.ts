import { burn } from '@kenjiuno/msgreader/lib/Burner.js'

const [ROOT, STORAGE, STREAM] = [5, 1, 2]

interface Streams {
  readonly [name: string]: string | Buffer | Streams
}

/** A container of older office programs (Compound File Binary) of these streams and storages; a text is stored in UTF-16. */
export function makeCompound(streams: Streams): Buffer<ArrayBuffer> {
  const entries: Parameters<typeof burn>[0] = []
  const add = (name: string, type: number, content: string | Buffer | Streams): number => {
    const index = entries.length
    if (typeof content === 'string' || Buffer.isBuffer(content)) {
      const bytes = Buffer.from(content.toString('latin1'), 'latin1')
      const stored = typeof content === 'string' ? Buffer.from(content, 'utf16le') : bytes
      entries.push({ name, type, length: stored.length, binaryProvider: () => [...stored] })
      return index
    }
    const children: number[] = []
    entries.push({ name, type, length: 0, children })
    for (const [each, inner] of Object.entries(content))
      children.push(add(each, typeof inner === 'string' || Buffer.isBuffer(inner) ? STREAM : STORAGE, inner))
    return index
  }
  add('Root Entry', ROOT, streams)
  return Buffer.from(burn(entries))
}

/** A message of Outlook with these properties, and further streams. */
export function makeMsg(
  properties: Readonly<Record<string, string | Buffer>>,
  more: Streams = {},
): Buffer<ArrayBuffer> {
  const named = Object.entries(properties).map(([tag, value]) => [`__substg1.0_${tag}`, value] as const)
  return makeCompound({ '__properties_version1.0': Buffer.alloc(32), ...Object.fromEntries(named), ...more })
}
