import type { PDFiumDocument, PDFiumLibrary, PDFiumPage } from '@hyzyla/pdfium'
import { messageOf } from '../../../foundation/errors.ts'
import { explainMissingReader } from '../../optional-packages.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  FOR_NEXT_STAGE,
  partial,
  unreadable,
} from './extraction.ts'
import { type GreyImage, PAGE_SIDE, RECOGNIZED, type Recognizer, takeRecognized } from './ocr.ts'
import { splitInto } from './passage-splitter.ts'

const MAX_RECOGNIZED_PAGES = 300

/** The pages of each kind so far. */
interface Found {
  textPages: number
  recognizedPages: number
  picturePages: number
  /** The reason why not everything was read. */
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
  const missing = explainMissingReader('picture')
  const found: Found = { textPages: 0, recognizedPages: 0, picturePages: 0, gap: undefined }
  for (let index = 0; index < pageCount; index += 1) {
    const page = pdf.readPage(index)
    if (isPicture(page)) {
      if (mayMatter(found, recognizer) && isBlankPreview(await pdf.drawPage(index, PREVIEW_SIDE))) continue
      found.picturePages += 1
      if (recognizer && missing === undefined) await recognizePage(pdf, index, recognizer, sink, found)
    } else if (page.text.trim() !== '') {
      found.textPages += 1
      splitInto(page.text, { unit: 'page', firstUnit: index + 1, lastUnit: index + 1 }, sink)
    }
    await sink.drain()
  }
  const properties = { pages: pageCount }
  if (found.picturePages > 0 && missing !== undefined) return { ...completed(missing), properties }
  if (found.picturePages > 0 && !recognizer) return FOR_NEXT_STAGE
  return { ...endOf(found), properties }
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
  const texts = await recognizer.recognize(await pdf.drawPage(index, PAGE_SIDE))
  if (!texts) found.gap = `Recognizing the text of page ${index + 1} took too long`
  takeRecognized(texts ?? [], index + 1, sink)
  if (texts && texts.length > 0) found.recognizedPages += 1
  await sink.nextPart()
}

/** Returns whether it makes a difference that the next page without letters is blank: one that is not decides for the next stage. */
function mayMatter({ picturePages }: Found, recognizer: Recognizer | undefined): boolean {
  return recognizer ? picturePages <= MAX_RECOGNIZED_PAGES : picturePages === 0
}

/** A page is drawn fast at this size, and a letter still darkens a pixel. */
const PREVIEW_SIDE = 400
/** Paper and the noise of scanners differ by less, light letters by more. */
const PREVIEW_CONTRAST = 8

function isBlankPreview({ data }: GreyImage): boolean {
  const least = data.reduce((one, other) => Math.min(one, other), 255)
  return data.every((grey) => grey - least < PREVIEW_CONTRAST)
}

/** True for a page that shows something but whose text cannot be read: a scan, or letters without their meaning. */
function isPicture({ text, isDrawn }: ReturnType<Pdf['readPage']>): boolean {
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

type Pdf = Awaited<ReturnType<typeof openPdf>>

let library: Promise<PDFiumLibrary> | undefined

/** Throws when the file is damaged or needs a password. */
export async function openPdf(bytes: Uint8Array) {
  library ??= import('@hyzyla/pdfium').then(({ PDFiumLibrary }) => PDFiumLibrary.init())
  const document = await load(await library, bytes)
  return {
    pageCount: document.getPageCount(),
    /** Returns its text in the order of the file, and whether anything is drawn on it; `index` counts from 0. */
    readPage: (index: number) => {
      const page = document.getPage(index)
      try {
        return { text: cleanText(page.getText()), isDrawn: page.getObjectCount() > 0 }
      } finally {
        close(page)
      }
    },
    /** Draws a page so that its longer side has about this number of pixels, and closes it. */
    drawPage: async (index: number, longerSide: number) => await draw(document.getPage(index), longerSide),
    [Symbol.dispose]: () => document.destroy(),
  }
}

async function load(pdfium: PDFiumLibrary, bytes: Uint8Array): Promise<PDFiumDocument> {
  try {
    return await pdfium.loadDocument(bytes)
  } catch (error) {
    if (/password|security/i.test(messageOf(error)))
      throw new Error('The PDF is encrypted: reading it takes its password')
    throw unreadable('The PDF is damaged', error)
  }
}

async function draw(page: PDFiumPage, longerSide: number): Promise<GreyImage> {
  const { originalWidth, originalHeight } = page.getOriginalSize()
  const scale = longerSide / Math.max(originalWidth, originalHeight, 1)
  const { width, height, data } = await page.render({ scale, colorSpace: 'Gray', render: 'bitmap' })
  return { width, height, data }
}

/** The library closes a page only after drawing it; pages left open take memory until the document is closed. */
function close(page: PDFiumPage): void {
  // biome-ignore lint/complexity/useLiteralKeys: these members are private
  page['module']._FPDF_ClosePage(page['pageIdx'])
}

/** U+FFFE stands for a hyphen at the end of a line; the next line continues the word. */
function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\ufffe', '')
}
