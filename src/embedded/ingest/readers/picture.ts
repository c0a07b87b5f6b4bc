import { Parser } from 'htmlparser2'
import type { Metadata } from 'sharp'
import { MAX_XML_DEPTH } from './archive.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  FOR_NEXT_STAGE,
  NOT_DECODED,
  partial,
  unreadable,
} from './extraction.ts'
import { emitRecognized, loadSharp, MAX_PIXELS, pictureOf, RECOGNIZED, type Recognizer } from './ocr.ts'
import { splitInto } from './passage-splitter.ts'

const MAX_PAGES = 300
/** In pixels; the text of smaller pictures, such as icons, is not recognized. */
const MIN_SIDE = 24

const DECODED = /^image\/(?:jpeg|png|gif|webp|tiff|avif)$/
const CUT = 'The picture is cut off: only its remaining part was read'
const NO_TEXT = 'No text was recognized in the picture: only its title is searchable'

/** Extracts the description in a picture file, and the text that is recognized, page by page. Throws if the file is broken. */
export async function readPicture(
  bytes: Buffer,
  mimeType: string,
  sink: ExtractionSink,
  recognizer: Recognizer | undefined,
): Promise<ExtractionEnd> {
  if (!DECODED.test(mimeType)) return completed(NOT_DECODED)
  if (!recognizer) return FOR_NEXT_STAGE
  const metadata = await readMetadata(bytes)
  const { width, height, pages = 1, format } = metadata
  const pageCount = format === 'tiff' ? pages : 1
  const caption = captionOf(metadata)
  if (caption !== '') splitInto(caption, { unit: 'page', firstUnit: 1, lastUnit: 1 }, sink)
  const end = await recognizePages(bytes, metadata, Math.min(pageCount, MAX_PAGES), sink, recognizer)
  const isCut = pageCount > MAX_PAGES && end.status !== 'partial'
  const whole = isCut ? partial(`Only the first ${MAX_PAGES} pages were read`, end.warnings) : end
  return { ...whole, properties: { width, height, ...(pageCount > 1 ? { pages: pageCount } : {}) } }
}

async function readMetadata(bytes: Buffer): Promise<Metadata> {
  const sharp = await loadSharp()
  try {
    return await sharp(bytes, { limitInputPixels: false }).metadata()
  } catch (error) {
    throw unreadable('The picture is damaged', error)
  }
}

async function recognizePages(
  bytes: Buffer,
  { width, height }: Metadata,
  pageCount: number,
  sink: ExtractionSink,
  recognizer: Recognizer,
): Promise<ExtractionEnd> {
  if (width * height > MAX_PIXELS)
    return partial(`The picture has more than ${MAX_PIXELS / 1e6} megapixels: its text was not read`)
  if (Math.min(width, height) < MIN_SIDE) return completed(NO_TEXT)
  let found = 0
  let isCut = false
  for (let page = 1; page <= pageCount; page += 1) {
    const picture = await pictureOf(bytes, page - 1)
    isCut ||= picture.isCut
    const texts = await recognizer.recognize(picture)
    if (!texts) return partial(`Recognizing the text of page ${page} took too long`)
    emitRecognized(texts, page, sink)
    found += texts.length
    await sink.nextPart()
  }
  const warning = found > 0 ? RECOGNIZED : NO_TEXT
  return isCut ? partial(CUT, [warning]) : completed(warning)
}

/** What is text for people: elements of XMP, tags of EXIF (description, artist, copyright), and keywords of comments in PNG. */
const XMP_WORDS = new Set(['dc:title', 'dc:description', 'dc:subject', 'dc:creator', 'photoshop:Headline'])
const EXIF_WORDS = [0x010e, 0x013b, 0x8298]
const PNG_WORDS = /^(?:title|author|description|copyright|comment|subject|keywords|caption)$/i

/** Descriptions that programs and cameras write without a person. */
const BY_PROGRAM =
  /^(?:(?:created|made|edited|generated|exported|converted|produced) (?:with|using)\b.{0,60}|.{0,30}\bdigital camera|sony dsc|dcim.*|screenshot|file written by adobe.*)$/i

/** Returns the description in a picture file (XMP, EXIF, comments of PNG): each text once, on a line of its own. */
function captionOf({ xmp, exif, comments = [] }: Metadata): string {
  const lines = [...(xmp ? xmpWords(xmp.toString('utf8')) : []), ...(exif ? exifWords(exif) : [])]
  for (const { keyword, text } of comments) if (PNG_WORDS.test(keyword)) lines.push(text)
  const written = lines.map((line) => line.replace(/\s+/g, ' ').trim())
  return [...new Set(written)].filter((line) => line !== '' && !BY_PROGRAM.test(line)).join('\n')
}

function xmpWords(xmp: string): string[] {
  const words: string[] = []
  const open: string[] = []
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        open.push(name)
        if (open.length > MAX_XML_DEPTH) parser.pause()
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

/** Returns the texts of EXIF_WORDS in the first directory of a TIFF block; none if it is broken. */
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
