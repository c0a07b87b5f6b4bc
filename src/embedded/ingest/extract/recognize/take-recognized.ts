import type { ExtractionSink } from '../extraction.ts'
import { cutInto } from '../passage-cutter.ts'
import type { RecognizedText } from './recognizer.ts'

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
    cutInto(gathered.map(({ text }) => text).join('\n\n'), place, sink)
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
