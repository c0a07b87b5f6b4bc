import type { PDFiumDocument, PDFiumLibrary, PDFiumPage } from '@hyzyla/pdfium'
import { messageOf } from '../../../foundation/errors.ts'
import { unreadable } from './extraction.ts'
import type { GreyImage } from './turned-page.ts'

export type Pdf = Awaited<ReturnType<typeof openPdf>>
export type PdfPage = ReturnType<Pdf['readPage']>

let library: Promise<PDFiumLibrary> | undefined

/** Opens a PDF. Throws if it is damaged or needs a password. */
export async function openPdf(bytes: Uint8Array) {
  library ??= import('@hyzyla/pdfium').then(({ PDFiumLibrary }) => PDFiumLibrary.init())
  const { document, isCut } = await load(await library, bytes)
  const pdfium = functionsOf(document)
  return {
    pageCount: document.getPageCount(),
    /** True if the end of the file is missing, so that only the objects before it can be read. */
    isCut,
    /**
     * Returns what a page shows, `index` counting from 0: its text in the order of the file, with the text of forms; `remarks`, the
     * texts of notes, which viewers show on demand; and whether anything is drawn on it, and pictures fill it.
     */
    readPage: (index: number) => {
      const remarks = flattenPage(document, index, pdfium)
      const page = document.getPage(index)
      try {
        const { pageIdx } = privatesOf(page)
        const isFilledByPicture = pictureShare(page, pageIdx, pdfium) >= MIN_PICTURE_SHARE
        return { text: cleanText(page.getText()), remarks, isDrawn: page.getObjectCount() > 0, isFilledByPicture }
      } finally {
        close(page, pdfium)
      }
    },
    /** Returns the titles of the outline by the page that they lead to, counting from 0. */
    readOutline: () => readOutline(pdfium),
    attachments: () =>
      Array.from({ length: pdfium.call('FPDFDoc_GetAttachmentCount', pdfium.document) }, (_, index) =>
        readAttachment(index, pdfium),
      ),
    /** Draws a page, whose longer side then has about `longerSide` pixels, and closes it. */
    drawPage: async (index: number, longerSide: number) => await draw(document.getPage(index), longerSide),
    [Symbol.dispose]: () => document.destroy(),
  }
}

async function load(pdfium: PDFiumLibrary, bytes: Uint8Array): Promise<{ document: PDFiumDocument; isCut: boolean }> {
  try {
    return { document: await pdfium.loadDocument(bytes), isCut: false }
  } catch (error) {
    if (/password|security/i.test(messageOf(error)))
      throw new Error('The PDF is encrypted: reading it requires its password')
    const document = await loadCut(pdfium, bytes)
    if (!document) throw unreadable('The PDF is damaged', error)
    return { document, isCut: true }
  }
}

const CATALOG = /\b(\d{1,10}) (\d{1,5}) obj\s*<<(?:(?!endobj)[\s\S]){0,2000}?\/Type\s*\/Catalog\b/

/** Opens a file whose end is missing, by adding an end that names the catalogue. Returns undefined if the file cannot be read even so. */
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

/** Private members of the classes of the package. They give access to functions of the library that the package does not wrap. */
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
  const withMemory = <T>(bytes: number, use: (pointer: number) => T): T => {
    const pointer = module.wasmExports.malloc(bytes)
    try {
      return use(pointer)
    } finally {
      module.wasmExports.free(pointer)
    }
  }
  /** Returns the bytes that `use` writes to the pointer; it may write as many as `bytes` says. */
  const written = (bytes: number, use: (pointer: number) => void): Buffer =>
    withMemory(bytes, (pointer) => {
      use(pointer)
      return Buffer.from(module.HEAPU8.slice(pointer, pointer + bytes))
    })
  /** Returns the text that `write` writes as UTF-16 with a final zero; `write` returns its length in bytes. */
  const textOf = (write: (pointer: number, bytes: number) => number): string => {
    const bytes = write(0, 0)
    return bytes <= 2 ? '' : written(bytes, (pointer) => void write(pointer, bytes)).toString('utf16le', 0, bytes - 2)
  }
  /** Calls `use` with a pointer to a name as a C string. */
  const withCString = (name: string, use: (pointer: number) => string): string => {
    const bytes = Buffer.from(`${name}\0`)
    return withMemory(bytes.length, (pointer) => {
      module.HEAPU8.set(bytes, pointer)
      return use(pointer)
    })
  }
  return { call, written, textOf, withCString, document: documentIdx }
}

/** The kinds of annotations ([ISO 32000-1] 12.5.6) that show their text on the page, or have none. */
const FREE_TEXT = 3
const LINK = 2
const POPUP = 16
const WIDGET = 20
const DRAWN: readonly number[] = [LINK, FREE_TEXT, POPUP, WIDGET]
/** Viewers do not show an annotation with one of these flags: hidden, no view. */
const HIDDEN = 0b10_0010
const FOR_DISPLAY = 0

/** Draws forms and annotations into the page, so that their text becomes text of the page. Returns the notes that open at a click. */
function flattenPage(document: PDFiumDocument, index: number, pdfium: Pdfium): string[] {
  const { call, textOf, withCString } = pdfium
  const page = document.getPage(index)
  const { pageIdx } = privatesOf(page)
  const remarks: string[] = []
  const count = call('FPDFPage_GetAnnotCount', pageIdx)
  try {
    if (count === 0) return []
    // This draws fields and notes whose appearance the program that wrote them left to the viewer.
    const form = document.initializeFormFields()
    call('FORM_OnAfterLoadPage', pageIdx, form)
    for (let at = 0; at < count; at += 1) {
      const annotation = call('FPDFPage_GetAnnot', pageIdx, at)
      const isRemark = !DRAWN.includes(call('FPDFAnnot_GetSubtype', annotation))
      if (isRemark && (call('FPDFAnnot_GetFlags', annotation) & HIDDEN) === 0) {
        remarks.push(
          withCString('Contents', (key) =>
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
    const destination = call('FPDFBookmark_GetDest', document, bookmark)
    const page = Math.max(0, destination === 0 ? 0 : call('FPDFDest_GetDestPageIndex', document, destination))
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

/** Pictures fill a page if they cover at least this share of it. */
const MIN_PICTURE_SHARE = 0.5
/** Pages with more objects are no scans, which have one picture or some dozens of strips. */
const MAX_OBJECTS = 200
const FORM = 5
const PICTURE = 3

/** Returns the share of the page that pictures cover; 0 if the page has more than MAX_OBJECTS objects. */
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
    const [left, bottom, right, top] = [0, 4, 8, 12].map((offset) => sides.readFloatLE(offset)) as [
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

/** Closes a page, as the library does only after drawing it. An open page takes memory until the document is closed. */
function close(page: PDFiumPage, { call }: Pdfium): void {
  call('FPDF_ClosePage', privatesOf(page).pageIdx)
}

/** Joins words that are divided at the end of a line, where the library puts U+FFFE for the hyphen, and unifies line breaks. */
function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\ufffe', '')
}
