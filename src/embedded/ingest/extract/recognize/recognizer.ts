import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Worker } from 'tesseract.js'
import type { TraceDetail } from '../../../database/tables/passages.ts'
import { RECOGNIZING_MS } from '../../extraction-limits.ts'

/** A paragraph that was recognized in a picture. */
export interface RecognizedText {
  readonly text: string
  readonly region: NonNullable<TraceDetail['region']>
}

/** A picture as PNG. */
export interface Picture {
  readonly png: Buffer
  readonly width: number
  readonly height: number
}

/** Recognizes printed text (OCR), one picture after the other, offline. */
export interface Recognizer {
  /** Undefined when it took too long. */
  recognize(picture: Picture): Promise<RecognizedText[] | undefined>
}

const LANGUAGES = ['eng', 'deu'] as const

/** Of 100; what is recognized in leaves and clouds has about 10, printed text above 80. */
const MIN_CONFIDENCE = 55
const WORD = /\p{L}{2}/u
/** Tesseract takes the size of letters by it. */
const DOTS_PER_INCH = '200'
/** The mode of Tesseract that has neural networks only. */
const LSTM_ONLY = 1

/** Loads Tesseract with the first picture; `directory` receives its language data. */
export function openRecognizer(directory: string): Recognizer {
  let worker: Promise<Worker> | undefined
  return {
    recognize: async ({ png, width, height }) => {
      worker ??= startWorker(directory)
      const engine = await worker
      const data = await withinTime(
        engine,
        async () => (await engine.recognize(png, {}, { text: false, blocks: true })).data,
      )
      if (!data) {
        worker = undefined
        return undefined
      }
      const paragraphs = (data.blocks ?? []).flatMap((block) => block.paragraphs)
      return paragraphs
        .filter(({ text, confidence }) => confidence >= MIN_CONFIDENCE && WORD.test(text))
        .map(({ text, bbox }) => ({ text: text.trim(), region: regionOf(bbox, width, height) }))
    },
  }
}

async function startWorker(directory: string): Promise<Worker> {
  const { createWorker } = await import('tesseract.js')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const { resolve } = createRequire(import.meta.url)
  // Each language comes in a package of its own; Tesseract looks for all of them in one directory, and else on the network.
  for (const language of LANGUAGES) {
    const file = `${language}.traineddata.gz`
    await copyFile(resolve(`@tesseract.js-data/${language}/4.0.0_best_int/${file}`), join(directory, file))
  }
  const worker = await createWorker([...LANGUAGES], LSTM_ONLY, { langPath: directory, cacheMethod: 'none' })
  await worker.setParameters({ user_defined_dpi: DOTS_PER_INCH })
  return worker
}

/** Ends the worker and returns undefined when the work takes too long. */
async function withinTime<T>(worker: Worker, work: () => Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), RECOGNIZING_MS)
  try {
    const done = await Promise.race([work(), promise])
    if (done === undefined) await worker.terminate()
    return done
  } finally {
    clearTimeout(timer)
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
