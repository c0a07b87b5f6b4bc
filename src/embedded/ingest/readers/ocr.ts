import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Worker } from 'tesseract.js'
import { withinTime } from '../../../foundation/concurrency/within-time.ts'
import { TemporaryError } from '../../../foundation/errors.ts'
import type { TraceDetail } from '../../database/passages-table.ts'
import { RECOGNIZING_MS } from '../extraction-limits.ts'
import { type ExtractionSink, unreadable } from './extraction.ts'
import { splitInto } from './passage-splitter.ts'
import { CONTRAST, type GreyImage, groundOf, likelyTurns, turn, turnBack } from './turned-page.ts'

/** A paragraph that was recognized in a picture. */
interface RecognizedText {
  readonly text: string
  readonly region: NonNullable<TraceDetail['region']>
}

const LANGUAGES = ['eng', 'deu'] as const

/** A confidence of 100 is certain; shapes in leaves and clouds have about 10, printed text above 80. */
const MIN_CONFIDENCE = 55
const WORD = /\p{L}{2}/u
/** Tesseract derives the size of letters from it. */
const DOTS_PER_INCH = '200'
/** The mode of Tesseract that has neural networks only. */
const LSTM_ONLY = 1

export type Recognizer = ReturnType<typeof openRecognizer>

/**
 * Recognizes printed text (OCR), one picture after the other, offline. Loads Tesseract with the first picture; `directory` receives
 * its language data.
 */
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
    /** Also turns a page that was scanned sideways. Returns nothing for a blank image; undefined when it took too long. */
    recognize: async (image: GreyImage): Promise<RecognizedText[] | undefined> => {
      if (isBlank(image)) return []
      let best = await read(image)
      const turns = best && lettersOf(best) < FEW_LETTERS ? likelyTurns(image) : []
      for (const quarters of turns) {
        const found = await read(turn(image, quarters))
        if (found && lettersOf(found) > lettersOf(best ?? []))
          best = found.map(({ text, region }) => ({ text, region: turnBack(region, quarters) }))
      }
      return best
    },
  }
}

/** A page that lies on its side yields fewer letters in words than this. */
const FEW_LETTERS = 60

function lettersOf(texts: readonly RecognizedText[]): number {
  return texts.reduce(
    (sum, { text }) => sum + (text.match(/\p{L}+/gu) ?? []).filter(({ length }) => length > 2).join('').length,
    0,
  )
}

/** A letter of 10 points has 150 at 200 dots per inch. */
const MIN_LETTER_PIXELS = 100

/** Returns whether an image has fewer pixels that differ from the commonest grey than one letter has. */
function isBlank(image: GreyImage): boolean {
  const ground = groundOf(image)
  let signs = 0
  for (const grey of image.data) if (Math.abs(grey - ground) >= CONTRAST) signs += 1
  return signs < MIN_LETTER_PIXELS
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
  // Each language is a package; Tesseract looks for all of them in one directory, and loads missing ones from the network.
  for (const language of LANGUAGES) {
    const file = `${language}.traineddata.gz`
    await copyFile(resolve(`@tesseract.js-data/${language}/4.0.0_best_int/${file}`), join(directory, file))
  }
  const worker = await createWorker([...LANGUAGES], LSTM_ONLY, { langPath: directory, cacheMethod: 'none' })
  await worker.setParameters({ user_defined_dpi: DOTS_PER_INCH })
  return worker
}

/** Ends the worker and returns undefined when it takes too long. */
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

/** Emits what was recognized on a page, some paragraphs to a passage, with the part of the page that they take. */
export function takeRecognized(
  texts: readonly RecognizedText[],
  page: number,
  sink: Pick<ExtractionSink, 'take'>,
): void {
  let gathered: RecognizedText[] = []
  const flush = () => {
    if (gathered.length === 0) return
    const place = { unit: 'page', firstUnit: page, lastUnit: page, detail: { region: around(gathered) } } as const
    splitInto(gathered.map(({ text }) => text).join('\n\n'), place, sink)
    gathered = []
  }
  for (const recognized of texts) {
    const length = gathered.reduce((sum, { text }) => sum + text.length, 0)
    if (length + recognized.text.length > TARGET_LENGTH) flush()
    gathered.push(recognized)
  }
  flush()
}

function around(texts: readonly RecognizedText[]): RecognizedText['region'] {
  const left = Math.min(...texts.map(({ region }) => region.left))
  const top = Math.min(...texts.map(({ region }) => region.top))
  const right = Math.max(...texts.map(({ region }) => region.left + region.width))
  const bottom = Math.max(...texts.map(({ region }) => region.top + region.height))
  const round = (value: number) => Number(value.toFixed(4))
  return { left, top, width: round(right - left), height: round(bottom - top) }
}

export const MAX_PIXELS = 100e6

/** A page of A4 at 200 dots per inch; more costs time and finds no more words. */
export const PAGE_SIDE = 2_339
/** Letters of smaller pictures are recognized better at twice their size. */
const SMALL_SIDE = 1_000

/** Loads sharp with the first picture, for one thread and without a cache. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}

/**
 * One page of a picture, upright, in grey and in a size that is good for recognition; of a truncated file, the part that is there (`isCut`). Throws
 * when it is broken.
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

/** Half of the light, by which a picture counts as light or dark. */
const MIDDLE = 128

/** Puts a transparent picture on white if it is dark and on black if it is light, as on the page that it is made for. */
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
