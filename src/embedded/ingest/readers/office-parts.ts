import { crc32 } from 'node:zlib'
import { packedBytesOf, readPart, type ZipEntry } from './archive.ts'

/** Parts whose words a reader sees. */
const WORDS = /\.(?:xml|xhtml|html?)$/i
const ODD =
  /<(?:\w+:)?ruby[\s>]|xmlns(?::(?!w=)\w+)?="http:\/\/(?:schemas\.openxmlformats|purl\.oclc)\.org\/[\w/]*wordprocessingml\/[\w/]*main"/i

/**
 * Returns an archive in which the parser finds all words: those below readings (ruby) are whole, and the elements of Word's text have
 * their usual prefix, and names have slashes where an old program wrote backslashes. Returns the same archive if nothing had to change.
 */
export function withUsualParts(zip: Buffer, entries: readonly ZipEntry[]): Buffer {
  const changed = new Map<ZipEntry, Buffer>()
  for (const entry of entries) {
    if (!WORDS.test(entry.name)) continue
    const bytes = readPart(zip, entry)
    const text = bytes.toString()
    if (ODD.test(text)) changed.set(entry, Buffer.from(withWholeWords(withUsualPrefix(text))))
  }
  const isUsual = entries.every(
    ({ name, nameStart }) => zip.toString('utf8', nameStart, nameStart + name.length) === name,
  )
  return changed.size === 0 && isUsual ? zip : rewrite(zip, entries, changed)
}

const WORD_SPACE = /xmlns(?::(\w+))?="http:\/\/[\w.]+\/[\w/]*wordprocessingml\/[\w/]*main"/

function withUsualPrefix(xml: string): string {
  const [declaration, prefix] = WORD_SPACE.exec(xml) ?? []
  if (declaration === undefined || prefix === 'w') return xml
  if (prefix !== undefined) {
    return xml
      .replace(declaration, `${declaration} ${declaration.replace(`:${prefix}=`, ':w=')}`)
      .replaceAll(new RegExp(`(</?|\\s)${prefix}:`, 'g'), '$1w:')
  }
  return xml
    .replace(declaration, `${declaration} ${declaration.replace('xmlns=', 'xmlns:w=')}`)
    .replace(/(<\/?)(?=[a-z]\w*[\s/>])/gi, '$1w:')
}

const WORD_RUBY =
  /<w:ruby>(?:(?!<w:rubyBase>)[\s\S])*?<w:rt>([\s\S]*?)<\/w:rt>\s*<w:rubyBase>([\s\S]*?)<\/w:rubyBase>\s*<\/w:ruby>/g
/** From the first reading of a paragraph, heading, cell or the like to its end. */
const PAGE_RUBY = /<ruby[\s>][\s\S]{0,20000}?(?=<\/(?:p|h\d|li|td|th|dd|dt|div|body|blockquote)>)/gi

/** Readings follow their paragraph, so that no word is cut by them. */
function withWholeWords(xml: string): string {
  const inParagraph = (paragraph: string) => {
    if (!paragraph.includes('<w:ruby>')) return paragraph
    const readings: string[] = []
    const whole = paragraph.replace(WORD_RUBY, (_, reading: string, base: string) => {
      readings.push(plain(reading))
      return `</w:r>${base}<w:r>`
    })
    return `${whole}<w:r><w:t xml:space="preserve"> (${readings.join(' ')})</w:t></w:r>`
  }
  const inWord = xml.split('</w:p>').map(inParagraph).join('</w:p>')
  return inWord.replace(PAGE_RUBY, (part) => {
    const readings = [...part.matchAll(/<rt(?:\s[^>]*)?>([\s\S]*?)<\/rt>/gi)].map(([, reading = '']) => plain(reading))
    const whole = part
      .replace(/<(rt|rp)(?:\s[^>]*)?>[\s\S]*?<\/\1>/gi, '')
      .replace(/<\/?(?:ruby|rb|rtc)(?:\s[^>]*)?>/gi, '')
    return readings.length === 0 ? whole : `${whole} (${readings.join(' ')})`
  })
}

function plain(markup: string): string {
  return markup.replace(/<[^>]*>/g, '').trim()
}

const LOCAL_BYTES = 30
const ENTRY_BYTES = 46

/** Writes the archive anew, its changed parts unpacked and the others as they are. */
function rewrite(zip: Buffer, entries: readonly ZipEntry[], changed: ReadonlyMap<ZipEntry, Buffer>): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const bytes = changed.get(entry)
    const head = Buffer.from(zip.subarray(entry.nameStart - ENTRY_BYTES, entry.nameStart))
    head.writeUInt16LE(name.length, 28)
    head.writeUInt32LE(0, 30)
    head.writeUInt32LE(at, 42)
    const packed = bytes ?? packedBytesOf(zip, entry)
    if (bytes) {
      head.writeUInt16LE(0, 10)
      head.writeUInt32LE(crc32(bytes), 16)
      head.writeUInt32LE(bytes.length, 20)
      head.writeUInt32LE(bytes.length, 24)
    }
    // Sizes and checksum stand in the local header as well, and none follows the bytes.
    head.writeUInt16LE(head.readUInt16LE(8) & ~8, 8)
    const local = Buffer.alloc(LOCAL_BYTES)
    local.writeUInt32LE(0x04034b50)
    head.copy(local, 4, 6, 30)
    parts.push(local, name, packed)
    directory.push(head, name)
    at += LOCAL_BYTES + name.length + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, list, end])
}
