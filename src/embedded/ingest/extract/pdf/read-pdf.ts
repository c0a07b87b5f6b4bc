import { completed, type ExtractionEnd, type ExtractionSink, FOR_NEXT_STAGE, partial } from '../extraction.ts'
import { cutInto } from '../passage-cutter.ts'
import { greyPicture, PAGE_SIDE } from '../picture/prepare-picture.ts'
import type { Recognizer } from '../recognize/recognizer.ts'
import { RECOGNIZED, takeRecognized } from '../recognize/take-recognized.ts'
import { openPdf, type Pdf, type PdfPage } from './open-pdf.ts'

const MAX_RECOGNIZED_PAGES = 300

/** What was found on the pages so far. */
interface Found {
  textPages: number
  recognizedPages: number
  picturePages: number
  /** Why not everything was read. */
  gap: string | undefined
}

/** Extracts the text of a PDF page by page; that of scanned pages is recognized. */
export async function readPdf(
  bytes: Uint8Array,
  sink: ExtractionSink,
  { recognizer }: { readonly recognizer: Recognizer | undefined },
): Promise<ExtractionEnd> {
  using pdf = await openPdf(bytes)
  const { pageCount } = pdf
  const found: Found = { textPages: 0, recognizedPages: 0, picturePages: 0, gap: undefined }
  for (let index = 0; index < pageCount; index += 1) {
    const page = pdf.readPage(index)
    if (isPicture(page)) {
      found.picturePages += 1
      if (recognizer) await recognizePage(pdf, index, recognizer, sink, found)
    } else if (page.text.trim() !== '') {
      found.textPages += 1
      cutInto(page.text, { unit: 'page', firstUnit: index + 1, lastUnit: index + 1 }, sink)
    }
    await sink.drain()
  }
  if (found.picturePages > 0 && !recognizer) return FOR_NEXT_STAGE
  return { ...endOf(found), properties: { pages: pageCount } }
}

async function recognizePage(
  pdf: Pdf,
  index: number,
  recognizer: Recognizer,
  sink: ExtractionSink,
  found: Found,
): Promise<void> {
  if (found.picturePages > MAX_RECOGNIZED_PAGES) {
    found.gap = `Only the first ${MAX_RECOGNIZED_PAGES} scanned pages were read`
    return
  }
  const texts = await recognizer.recognize(await greyPicture(await pdf.drawPage(index, PAGE_SIDE)))
  if (!texts) found.gap = `Recognizing the text of page ${index + 1} took too long`
  takeRecognized(texts ?? [], index + 1, sink)
  if (texts && texts.length > 0) found.recognizedPages += 1
  await sink.nextPart()
}

/** True for a page that shows something but whose text cannot be read: a scan, or letters without their meaning. */
function isPicture({ text, isDrawn }: PdfPage): boolean {
  const letters = text.replace(/\s/g, '')
  const meaningless = letters.replace(/[^\ufffd\ue000-\uf8ff\p{Cc}]/gu, '').length
  return isDrawn && meaningless * 2 >= letters.length
}

function endOf({ textPages, recognizedPages, gap }: Found): ExtractionEnd {
  const warnings = recognizedPages > 0 ? [RECOGNIZED] : []
  if (gap !== undefined) return partial(gap, warnings)
  return textPages + recognizedPages === 0
    ? partial('The PDF has no text: only its title is searchable')
    : completed(...warnings)
}
