import { Parser } from 'htmlparser2'
import type { Metadata } from 'sharp'

/** Elements of XMP that hold words for a reader. */
const XMP_WORDS = new Set(['dc:title', 'dc:description', 'dc:subject', 'dc:creator', 'photoshop:Headline'])

/** Tags of EXIF that do: description, artist, copyright. */
const EXIF_WORDS = [0x010e, 0x013b, 0x8298]

/** The description inside a picture file (XMP, EXIF, comments of PNG), each text once on a line of its own. */
export function captionOf({ xmp, exif, comments = [] }: Metadata): string {
  const lines = [...(xmp ? xmpWords(xmp.toString('utf8')) : []), ...(exif ? exifWords(exif) : [])]
  for (const { keyword, text } of comments) if (!/xmp|^raw/i.test(keyword)) lines.push(text)
  return [...new Set(lines.map((line) => line.replace(/\s+/g, ' ').trim()))].filter((line) => line !== '').join('\n')
}

function xmpWords(xmp: string): string[] {
  const words: string[] = []
  const open: string[] = []
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        open.push(name)
        for (const [attribute, value] of Object.entries(attributes)) if (XMP_WORDS.has(attribute)) words.push(value)
      },
      ontext: (text) => {
        if (open.some((name) => XMP_WORDS.has(name))) words.push(text)
      },
      onclosetag: () => {
        open.pop()
      },
    },
    { xmlMode: true },
  )
  parser.end(xmp)
  return words
}

/** The text of these tags in the first directory of a TIFF block; none when it is broken. */
function exifWords(exif: Buffer): string[] {
  const tiff = exif.subarray(exif.toString('latin1', 0, 4) === 'Exif' ? 6 : 0)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const long = (at: number) => (at + 4 > tiff.length ? 0 : isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at))
  const directory = long(4)
  return Array.from({ length: short(directory) }, (_, index) => directory + 2 + index * 12).flatMap((entry) => {
    if (!EXIF_WORDS.includes(short(entry))) return []
    const count = long(entry + 4)
    const start = count <= 4 ? entry + 8 : long(entry + 8)
    return [tiff.toString('utf8', start, Math.min(tiff.length, start + count)).replace(/\0[\s\S]*/, '')]
  })
}
