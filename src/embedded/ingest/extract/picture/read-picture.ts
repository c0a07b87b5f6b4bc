import type { Metadata } from 'sharp'
import { messageOf } from '../../../../foundation/errors.ts'
import { completed, type ExtractionEnd, type ExtractionSink, FOR_NEXT_STAGE, partial } from '../extraction.ts'
import { cutInto } from '../passage-cutter.ts'
import type { Recognizer } from '../recognize/recognizer.ts'
import { RECOGNIZED, takeRecognized } from '../recognize/take-recognized.ts'
import { captionOf } from './caption.ts'
import { loadSharp, MAX_PIXELS, pictureOf } from './prepare-picture.ts'

const MAX_PAGES = 300
/** What is smaller, such as an icon, has no text that could be read. */
const MIN_SIDE = 24

const DECODED = /^image\/(?:jpeg|png|gif|webp|tiff|avif)$/
const NOT_DECODED = 'Pictures of this kind cannot be decoded: only its title is searchable'
const NO_TEXT = 'No text was recognized in the picture: only its title is searchable'

/** Extracts the description inside the picture file and the text that is recognized in it, page by page. Throws when it is broken. */
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
  if (caption !== '') cutInto(caption, { unit: 'page', firstUnit: 1, lastUnit: 1 }, sink)
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
    throw new Error(`The picture is damaged (${messageOf(error)})`, { cause: error })
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
  for (let page = 1; page <= pageCount; page += 1) {
    const texts = await recognizer.recognize(await pictureOf(bytes, page - 1))
    if (!texts) return partial(`Recognizing the text of page ${page} took too long`)
    takeRecognized(texts, page, sink)
    found += texts.length
    await sink.nextPart()
  }
  return completed(found > 0 ? RECOGNIZED : NO_TEXT)
}
