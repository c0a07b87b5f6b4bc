import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Worker } from 'tesseract.js'
import { withinTime } from '../../../foundation/concurrency/waits.ts'
import { TemporaryError } from '../../../foundation/errors.ts'
import type { TraceDetail } from '../../database/passages-table.ts'
import { RECOGNIZING_MS } from '../extraction-limits.ts'
import { type ExtractionSink, unreadable } from './extraction.ts'
import { splitInto } from './passage-splitter.ts'
import { backgroundOf, type GreyImage, likelyTurns, MIN_CONTRAST, turn, turnBack } from './turned-page.ts'

/** A paragraph that was recognized in a picture. */
interface RecognizedText {
  readonly text: string
  readonly region: NonNullable<TraceDetail['region']>
}

const LANGUAGES = ['eng', 'deu'] as const

/** Of 100. Printed text has a confidence above 80, shapes in leaves and clouds one of about 10. */
const MIN_CONFIDENCE = 55
const WORD = /\p{L}{2}/u
/** The resolution from which Tesseract derives the size of letters. */
const DOTS_PER_INCH = '200'
/** The mode of Tesseract that uses neural networks only. */
const LSTM_ONLY = 1

export type Recognizer = ReturnType<typeof openRecognizer>

/** Opens Tesseract, which recognizes printed text in one picture after the other, with the language data in `directory`. */
export function openRecognizer(directory: string) {
  let worker: Promise<Worker> | undefined
  const read = async (image: GreyImage): Promise<RecognizedText[] | undefined> => {
    const { width, height } = image
    const png = await encodePng(image)
    worker ??= startWorker(directory)
    const data = await recognizeInTime(await worker, png)
    if (!data) {
      worker = undefined
      return undefined
    }
    const paragraphs = (data.blocks ?? []).flatMap((block) => block.paragraphs)
    return paragraphs
      .filter(({ text, confidence }) => confidence >= MIN_CONFIDENCE && WORD.test(text))
      .map(({ text, bbox }) => ({ text: text.trim(), region: regionOf(bbox, width, height) }))
  }
  return {
    /** Returns the paragraphs of an image, also of a page that was scanned sideways; undefined if recognition took too long. */
    recognize: async (image: GreyImage): Promise<RecognizedText[] | undefined> => {
      if (isBlank(image)) return []
      let best = await read(image)
      const turns = best && lettersOf(best) < MIN_UPRIGHT_LETTERS ? likelyTurns(image) : []
      for (const quarters of turns) {
        const found = await read(turn(image, quarters))
        if (found && lettersOf(found) > lettersOf(best ?? []))
          best = found.map(({ text, region }) => ({ text, region: turnBack(region, quarters) }))
      }
      return best
    },
  }
}

/** A page with fewer letters in recognized words may have been scanned sideways or upside down. */
const MIN_UPRIGHT_LETTERS = 60

function lettersOf(texts: readonly RecognizedText[]): number {
  return texts.reduce(
    (sum, { text }) => sum + (text.match(/\p{L}+/gu) ?? []).filter(({ length }) => length > 2).join('').length,
    0,
  )
}

/** A letter of 10 points has about 150 pixels at 200 dots per inch. */
const MIN_LETTER_PIXELS = 100

/** Returns whether an image has fewer pixels that differ from the background than a letter has. */
function isBlank(image: GreyImage): boolean {
  const background = backgroundOf(image)
  let ink = 0
  for (const grey of image.data) if (Math.abs(grey - background) >= MIN_CONTRAST) ink += 1
  return ink < MIN_LETTER_PIXELS
}

async function encodePng({ data, width, height }: GreyImage): Promise<Buffer> {
  const sharp = await loadSharp()
  return await sharp(data, { raw: { width, height, channels: 1 } })
    .greyscale()
    .png({ compressionLevel: 1 })
    .toBuffer()
}

async function startWorker(directory: string): Promise<Worker> {
  const { createWorker } = await import('tesseract.js')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const { resolve } = createRequire(import.meta.url)
  // Each language is in a package of its own. Tesseract wants all of them in one directory, and would download missing ones.
  for (const language of LANGUAGES) {
    const file = `${language}.traineddata.gz`
    await copyFile(resolve(`@tesseract.js-data/${language}/4.0.0_best_int/${file}`), join(directory, file))
  }
  const worker = await createWorker([...LANGUAGES], LSTM_ONLY, { langPath: directory, cacheMethod: 'none' })
  await worker.setParameters({ user_defined_dpi: DOTS_PER_INCH })
  return worker
}

/** Returns the recognized data; ends the worker and returns undefined if recognition takes too long. */
async function recognizeInTime(worker: Worker, png: Buffer) {
  try {
    return (await withinTime(worker.recognize(png, {}, { text: false, blocks: true }), RECOGNIZING_MS)).data
  } catch (error) {
    if (!(error instanceof TemporaryError)) throw error
    await worker.terminate()
    return undefined
  }
}

function regionOf(box: { x0: number; y0: number; x1: number; y1: number }, width: number, height: number) {
  const part = (pixels: number, of: number) => Number((pixels / of).toFixed(4))
  return {
    left: part(box.x0, width),
    top: part(box.y0, height),
    width: part(box.x1 - box.x0, width),
    height: part(box.y1 - box.y0, height),
  }
}

const TARGET_LENGTH = 2_000

export const RECOGNIZED = 'Its text was recognized in pictures (OCR): words can be wrong or missing'

/** Emits the text that was recognized on a page. Each passage has some paragraphs, and the region of the page that they cover. */
export function emitRecognized(
  texts: readonly RecognizedText[],
  page: number,
  sink: Pick<ExtractionSink, 'emit'>,
): void {
  let gathered: RecognizedText[] = []
  const flush = () => {
    if (gathered.length === 0) return
    const detail = { region: boundingRegion(gathered) }
    const position = { unit: 'page', firstUnit: page, lastUnit: page, detail } as const
    splitInto(gathered.map(({ text }) => text).join('\n\n'), position, sink)
    gathered = []
  }
  for (const recognized of texts) {
    const length = gathered.reduce((sum, { text }) => sum + text.length, 0)
    if (length + recognized.text.length > TARGET_LENGTH) flush()
    gathered.push(recognized)
  }
  flush()
}

function boundingRegion(texts: readonly RecognizedText[]): RecognizedText['region'] {
  const left = Math.min(...texts.map(({ region }) => region.left))
  const top = Math.min(...texts.map(({ region }) => region.top))
  const right = Math.max(...texts.map(({ region }) => region.left + region.width))
  const bottom = Math.max(...texts.map(({ region }) => region.top + region.height))
  const round = (value: number) => Number(value.toFixed(4))
  return { left, top, width: round(right - left), height: round(bottom - top) }
}

export const MAX_PIXELS = 100e6

/** The longer side of a page in pixels: A4 at 200 dots per inch. More pixels take more time, but yield no more words. */
export const PAGE_SIDE = 2_339
/** A picture whose longer side is shorter is enlarged to twice its size, since its letters are recognized better then. */
const SMALL_SIDE = 1_000

/** Loads sharp, and limits it to one thread without a cache. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}

/**
 * Returns one page of a picture, upright, in grey, and in a size that suits recognition. Of a truncated file, returns what can be decoded
 * (`isCut`). Throws if the file is broken.
 */
export async function pictureOf(bytes: Buffer, page: number): Promise<GreyImage & { readonly isCut: boolean }> {
  try {
    return { ...(await decode(bytes, page, 'warning')), isCut: false }
  } catch {
    return { ...(await decode(bytes, page, 'none')), isCut: true }
  }
}

async function decode(bytes: Buffer, page: number, failOn: 'warning' | 'none'): Promise<GreyImage> {
  const sharp = await loadSharp()
  const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, page, failOn })
  try {
    const { autoOrient, hasAlpha } = await open().metadata()
    const longer = Math.max(autoOrient.width, autoOrient.height)
    const side = longer < SMALL_SIDE ? longer * 2 : Math.min(longer, PAGE_SIDE)
    const resized = open().autoOrient().resize(side, side, { fit: 'inside' })
    const grey = hasAlpha
      ? resized.ensureAlpha().toColourspace('srgb')
      : resized.flatten({ background: '#fff' }).greyscale()
    const { data, info } = await grey.raw().toBuffer({ resolveWithObject: true })
    return { data: hasAlpha ? onContrast(data, info.channels) : data, width: info.width, height: info.height }
  } catch (error) {
    throw unreadable('The picture is damaged', error)
  }
}

/** Pictures with a higher average grey count as light. */
const MIDDLE = 128

/** Draws a transparent picture with dark signs on a light ground: on white, or, if it is light, on black and then inverted. */
function onContrast(pixels: Buffer, channels: number): Uint8Array {
  const light = (at: number) => {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3)
    return 0.299 * red + 0.587 * green + 0.114 * blue
  }
  const opacity = (at: number) => (pixels[at + channels - 1] ?? 255) / 255
  let [sum, weight] = [0, 0]
  for (let at = 0; at < pixels.length; at += channels) {
    sum += light(at) * opacity(at)
    weight += opacity(at)
  }
  const isLight = weight < pixels.length / channels && sum > MIDDLE * weight
  return Uint8Array.from({ length: pixels.length / channels }, (_, index) => {
    const at = index * channels
    const shown = light(at) * opacity(at)
    return isLight ? 255 - shown : shown + 255 * (1 - opacity(at))
  })
}
