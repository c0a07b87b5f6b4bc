import { completed, type ExtractionEnd, type ExtractionSink, partial } from '../extraction.ts'
import { cutInto } from '../passage-cutter.ts'
import { openPdf, type PdfPage } from './open-pdf.ts'

/** Extracts the text of a PDF page by page. */
export async function readPdf(bytes: Uint8Array, sink: ExtractionSink): Promise<ExtractionEnd> {
  using pdf = await openPdf(bytes)
  const { pageCount } = pdf
  let textPages = 0
  let picturePages = 0
  for (let index = 0; index < pageCount; index += 1) {
    const page = pdf.readPage(index)
    const number = index + 1
    if (isPicture(page)) picturePages += 1
    else if (page.text.trim() !== '') {
      textPages += 1
      cutInto(page.text, { unit: 'page', firstUnit: number, lastUnit: number }, sink)
    }
    await sink.drain()
  }
  return { ...endOf(textPages, picturePages), properties: { pages: pageCount } }
}

/** True for a page that shows something but whose text cannot be read: a scan, or letters without their meaning. */
function isPicture({ text, isDrawn }: PdfPage): boolean {
  const letters = text.replace(/\s/g, '')
  const meaningless = letters.replace(/[^\ufffd\ue000-\uf8ff\p{Cc}]/gu, '').length
  return isDrawn && meaningless * 2 >= letters.length
}

function endOf(textPages: number, picturePages: number): ExtractionEnd {
  if (textPages === 0) return partial('The PDF has no text: its pages are pictures or blank')
  return picturePages === 0 ? completed() : completed(`${picturePages} pages are pictures, whose text was not read`)
}
