import type { PDFiumDocument, PDFiumLibrary, PDFiumPage } from '@hyzyla/pdfium'
import { messageOf } from '../../../../foundation/errors.ts'

/** One page of a PDF; only one is loaded at a time. */
export interface PdfPage {
  /** Its text in the order of the file, lines parted by line feeds. */
  readonly text: string
  /** Whether anything is drawn on it, text or not. */
  readonly isDrawn: boolean
}

/** A page as a picture, one byte (0 is black) for each pixel. */
export interface GreyImage {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

export interface Pdf extends Disposable {
  readonly pageCount: number
  /** `index` counts from 0. */
  readPage(index: number): PdfPage
  /** Draws a page so that its longer side has about so many pixels. */
  drawPage(index: number, longerSide: number): Promise<GreyImage>
}

let library: Promise<PDFiumLibrary> | undefined

/** Throws when the file is damaged or needs a password. */
export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  library ??= import('@hyzyla/pdfium').then(({ PDFiumLibrary }) => PDFiumLibrary.init())
  const document = await load(await library, bytes)
  return {
    pageCount: document.getPageCount(),
    readPage: (index) => {
      const page = document.getPage(index)
      try {
        return { text: cleanText(page.getText()), isDrawn: page.getObjectCount() > 0 }
      } finally {
        close(page)
      }
    },
    // Drawing closes the page.
    drawPage: async (index, longerSide) => await draw(document.getPage(index), longerSide),
    [Symbol.dispose]: () => document.destroy(),
  }
}

async function load(pdfium: PDFiumLibrary, bytes: Uint8Array): Promise<PDFiumDocument> {
  try {
    return await pdfium.loadDocument(bytes)
  } catch (error) {
    const message = messageOf(error)
    if (/password|security/i.test(message)) throw new Error('The PDF is encrypted: reading it takes its password')
    throw new Error(`The PDF is damaged (${message})`, { cause: error })
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
