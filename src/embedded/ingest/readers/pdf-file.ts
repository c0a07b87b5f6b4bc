import type { PDFiumDocument, PDFiumLibrary, PDFiumPage } from '@hyzyla/pdfium'
import { messageOf } from '../../../foundation/errors.ts'
import { unreadable } from './extraction.ts'
import type { GreyImage } from './turned-page.ts'

export type Pdf = Awaited<ReturnType<typeof openPdf>>
export type PdfPage = ReturnType<Pdf['readPage']>

let library: Promise<PDFiumLibrary> | undefined

/** Throws when the file is damaged or needs a password. */
export async function openPdf(bytes: Uint8Array) {
  library ??= import('@hyzyla/pdfium').then(({ PDFiumLibrary }) => PDFiumLibrary.init())
  const { document, isCut } = await load(await library, bytes)
  const pdfium = functionsOf(document)
  return {
    pageCount: document.getPageCount(),
    /** Its table of objects is missing, and was rebuilt from the remaining objects. */
    isCut,
    /**
     * Returns what a page shows, `index` counting from 0: its text in the order of the file, with that of forms; the words of
     * remarks, which viewers list or unfold; and whether anything is drawn on it.
     */
    readPage: (index: number) => {
      const remarks = flattenPage(document, index, pdfium)
      const page = document.getPage(index)
      try {
        const { pageIdx } = privatesOf(page)
        const isFilledByPicture = pictureShare(page, pageIdx, pdfium) >= FILLED
        return { text: cleanText(page.getText()), remarks, isDrawn: page.getObjectCount() > 0, isFilledByPicture }
      } finally {
        close(page, pdfium)
      }
    },
    /** Returns the titles of the outline by the page they lead to. */
    readOutline: () => readOutline(pdfium),
    attachments: () =>
      Array.from({ length: pdfium.call('FPDFDoc_GetAttachmentCount', pdfium.document) }, (_, index) =>
        readAttachment(index, pdfium),
      ),
    /** Draws a page so that its longer side has about this number of pixels, and closes it. */
    drawPage: async (index: number, longerSide: number) => await draw(document.getPage(index), longerSide),
    [Symbol.dispose]: () => document.destroy(),
  }
}

async function load(pdfium: PDFiumLibrary, bytes: Uint8Array): Promise<{ document: PDFiumDocument; isCut: boolean }> {
  try {
    return { document: await pdfium.loadDocument(bytes), isCut: false }
  } catch (error) {
    if (/password|security/i.test(messageOf(error)))
      throw new Error('The PDF is encrypted: reading it takes its password')
    const document = await loadCut(pdfium, bytes)
    if (!document) throw unreadable('The PDF is damaged', error)
    return { document, isCut: true }
  }
}

const CATALOG = /(\d+) (\d+) obj\s*<<(?:(?!endobj)[\s\S]){0,2000}?\/Type\s*\/Catalog\b/

/** Opens a file that ends before its table of objects, which is made anew where the end says which object is its catalogue. */
async function loadCut(pdfium: PDFiumLibrary, bytes: Uint8Array): Promise<PDFiumDocument | undefined> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const [, number, generation] = CATALOG.exec(whole.toString('latin1')) ?? []
  if (number === undefined || whole.includes('/Encrypt')) return undefined
  const end = Buffer.from(`\nendobj\ntrailer\n<</Root ${number} ${generation} R>>\nstartxref\n0\n%%EOF\n`)
  const document = await pdfium.loadDocument(Buffer.concat([whole, end])).catch(() => undefined)
  if (document?.getPageCount() !== 0) return document
  document.destroy()
  return undefined
}

/** Members of the package's classes that it keeps private: it wraps few of the functions of the library. */
interface Privates {
  readonly pageIdx: number
  readonly documentIdx: number
  readonly module: Module
}

function privatesOf(wrapper: object): Privates {
  return wrapper as Privates
}

interface Module {
  readonly HEAPU8: Uint8Array
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void }
}

type Pdfium = ReturnType<typeof functionsOf>

function functionsOf(wrapper: PDFiumDocument) {
  const { module, documentIdx } = privatesOf(wrapper)
  const functions = module as unknown as Readonly<Record<string, (...values: readonly number[]) => number>>
  const call = (name: string, ...values: readonly number[]): number => functions[`_${name}`]?.(...values) ?? 0
  /** Lets `use` write into this many bytes, and returns what it wrote. */
  const written = (bytes: number, use: (pointer: number) => void): Buffer => {
    const pointer = module.wasmExports.malloc(bytes)
    try {
      use(pointer)
      return Buffer.from(module.HEAPU8.slice(pointer, pointer + bytes))
    } finally {
      module.wasmExports.free(pointer)
    }
  }
  /** A text that a function writes in UTF-16, with a zero at its end, and whose length in bytes it returns. */
  const textOf = (write: (pointer: number, bytes: number) => number): string => {
    const bytes = write(0, 0)
    return bytes <= 2 ? '' : written(bytes, (pointer) => void write(pointer, bytes)).toString('utf16le', 0, bytes - 2)
  }
  /** Passes a name as a string of C. */
  const named = (name: string, use: (pointer: number) => string): string => {
    const bytes = Buffer.from(`${name}\0`)
    const pointer = module.wasmExports.malloc(bytes.length)
    module.HEAPU8.set(bytes, pointer)
    try {
      return use(pointer)
    } finally {
      module.wasmExports.free(pointer)
    }
  }
  return { call, written, textOf, named, document: documentIdx }
}

/** Kinds of annotations ([ISO 32000-1] 12.5.6) that show their text themselves, or are no text. */
const FREE_TEXT = 3
const LINK = 2
const POPUP = 16
const WIDGET = 20
const DRAWN: readonly number[] = [LINK, FREE_TEXT, POPUP, WIDGET]
/** Viewers do not show an annotation with one of these flags: hidden, no view. */
const HIDDEN = 0b10_0010
const FOR_DISPLAY = 0

/** Draws forms and annotations into the page, whose text then has theirs; returns the remarks that only open when they are clicked. */
function flattenPage(document: PDFiumDocument, index: number, pdfium: Pdfium): string[] {
  const { call, textOf, named } = pdfium
  const page = document.getPage(index)
  const { pageIdx } = privatesOf(page)
  const remarks: string[] = []
  const count = call('FPDFPage_GetAnnotCount', pageIdx)
  try {
    if (count === 0) return []
    // It makes what fields and notes look like where their program left that to the viewer.
    const form = document.initializeFormFields()
    call('FORM_OnAfterLoadPage', pageIdx, form)
    for (let at = 0; at < count; at += 1) {
      const annotation = call('FPDFPage_GetAnnot', pageIdx, at)
      const isRemark = !DRAWN.includes(call('FPDFAnnot_GetSubtype', annotation))
      if (isRemark && (call('FPDFAnnot_GetFlags', annotation) & HIDDEN) === 0) {
        remarks.push(
          named('Contents', (key) =>
            textOf((to, bytes) => call('FPDFAnnot_GetStringValue', annotation, key, to, bytes)),
          ),
        )
      }
      call('FPDFPage_CloseAnnot', annotation)
    }
    call('FPDFPage_Flatten', pageIdx, FOR_DISPLAY)
    call('FORM_OnBeforeClosePage', pageIdx, form)
    return remarks.filter((remark) => remark.trim() !== '')
  } finally {
    close(page, pdfium)
  }
}

const MAX_TITLES = 10_000

function readOutline({ call, textOf, document }: Pdfium): ReadonlyMap<number, string[]> {
  const titles = new Map<number, string[]>()
  const waiting = [call('FPDFBookmark_GetFirstChild', document, 0)]
  // A broken outline may lead in a circle.
  const seen = new Set<number>()
  while (seen.size < MAX_TITLES) {
    const bookmark = waiting.pop()
    if (bookmark === undefined) break
    if (bookmark === 0 || seen.has(bookmark)) continue
    seen.add(bookmark)
    const title = textOf((to, bytes) => call('FPDFBookmark_GetTitle', bookmark, to, bytes))
    const place = call('FPDFBookmark_GetDest', document, bookmark)
    const page = Math.max(0, place === 0 ? 0 : call('FPDFDest_GetDestPageIndex', document, place))
    titles.set(page, [...(titles.get(page) ?? []), title])
    waiting.push(
      call('FPDFBookmark_GetNextSibling', document, bookmark),
      call('FPDFBookmark_GetFirstChild', document, bookmark),
    )
  }
  return titles
}

const LENGTH_BYTES = 4
const MAX_ATTACHMENT_BYTES = 64 * 2 ** 20

function readAttachment(index: number, { call, written, textOf, document }: Pdfium): { name: string; content: Buffer } {
  const attachment = call('FPDFDoc_GetAttachment', document, index)
  const name = textOf((to, bytes) => call('FPDFAttachment_GetName', attachment, to, bytes))
  const length = written(LENGTH_BYTES, (at) => void call('FPDFAttachment_GetFile', attachment, 0, 0, at)).readUInt32LE()
  const read = (to: number) =>
    void written(LENGTH_BYTES, (at) => void call('FPDFAttachment_GetFile', attachment, to, length, at))
  return { name, content: length === 0 || length > MAX_ATTACHMENT_BYTES ? Buffer.alloc(0) : written(length, read) }
}

/** Pictures that take at least this share of a page fill it. */
const FILLED = 0.5
/** A scan has one picture, or some dozens of strips. */
const MAX_OBJECTS = 200
const FORM = 5
const PICTURE = 3

/** Returns the share of the page that pictures take; 0 for pages of many parts. */
function pictureShare(page: PDFiumPage, pageIdx: number, { call, written }: Pdfium): number {
  const count = page.getObjectCount()
  if (count > MAX_OBJECTS) return 0
  const { originalWidth, originalHeight } = page.getOriginalSize()
  let area = 0
  for (let at = 0; at < count; at += 1) {
    const object = call('FPDFPage_GetObject', pageIdx, at)
    const type = call('FPDFPageObj_GetType', object)
    const inner = type === FORM ? call('FPDFFormObj_GetObject', object, 0) : object
    if (inner === 0 || call('FPDFPageObj_GetType', inner) !== PICTURE) continue
    const sides = written(16, (to) => void call('FPDFPageObj_GetBounds', object, to, to + 4, to + 8, to + 12))
    const [left, bottom, right, top] = [0, 4, 8, 12].map((place) => sides.readFloatLE(place)) as [
      number,
      number,
      number,
      number,
    ]
    area += Math.max(0, right - left) * Math.max(0, top - bottom)
  }
  return area / Math.max(1, originalWidth * originalHeight)
}

async function draw(page: PDFiumPage, longerSide: number): Promise<GreyImage> {
  const { originalWidth, originalHeight } = page.getOriginalSize()
  const scale = longerSide / Math.max(originalWidth, originalHeight, 1)
  const { width, height, data } = await page.render({ scale, colorSpace: 'Gray', render: 'bitmap' })
  return { width, height, data }
}

/** The library closes a page only after drawing it; pages left open take memory until the document is closed. */
function close(page: PDFiumPage, { call }: Pdfium): void {
  call('FPDF_ClosePage', privatesOf(page).pageIdx)
}

/** U+FFFE stands for a hyphen at the end of a line; the next line continues the word. */
function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\ufffe', '')
}
