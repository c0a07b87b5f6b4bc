import { mimeOf } from '../../../contract/mime.ts'
import { explainMissingReader } from '../../optional-packages.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  FOR_NEXT_STAGE,
  type NestedReader,
  partial,
} from './extraction.ts'
import { readAttachments } from './mail.ts'
import { emitRecognized, PAGE_SIDE, RECOGNIZED, type Recognizer } from './ocr.ts'
import { splitInto } from './passage-splitter.ts'
import { openPdf, type Pdf, type PdfPage } from './pdf-file.ts'
import type { GreyImage } from './turned-page.ts'

const MAX_RECOGNIZED_PAGES = 300

/** What was found on the pages so far. */
interface Found {
  textPages: number
  recognizedPages: number
  picturePages: number
  /** Why a part of the document was not read; undefined if all of it was. */
  gap: string | undefined
}

/** Extracts a PDF page by page, with forms, notes and outline, then its attachments. Text on scanned pages is recognized. */
export async function readPdf(
  bytes: Uint8Array,
  sink: ExtractionSink,
  { recognizer, readNested }: { readonly recognizer: Recognizer | undefined; readonly readNested: NestedReader },
): Promise<ExtractionEnd> {
  using pdf = await openPdf(bytes)
  const { pageCount } = pdf
  const missing = explainMissingReader('picture')
  const found: Found = { textPages: 0, recognizedPages: 0, picturePages: 0, gap: pdf.isCut ? CUT : undefined }
  const titles = pdf.readOutline()
  for (let index = 0; index < pageCount; index += 1) {
    const page = pdf.readPage(index)
    const text = withRemarks(isMeaningless(page.text) ? '' : page.text, [...page.remarks, ...(titles.get(index) ?? [])])
    if (text.trim() !== '') {
      found.textPages += 1
      splitInto(text, { unit: 'page', firstUnit: index + 1, lastUnit: index + 1 }, sink)
    }
    if (isPicture(page)) {
      const mayBeBlank = page.text.trim() === '' && isBlankRelevant(found, recognizer)
      if (mayBeBlank && isBlankPreview(await pdf.drawPage(index, PREVIEW_SIDE))) continue
      found.picturePages += 1
      if (recognizer && missing === undefined) await recognizePage(pdf, index, recognizer, sink, found)
    }
    await sink.drain()
  }
  const attached = pdf.attachments().map(({ name, content }) => ({ filename: name, mimeType: mimeOf(name), content }))
  const warnings = await readAttachments(attached, sink, readNested)
  const properties = { pages: pageCount, ...(attached.length > 0 && { attachments: attached.length }) }
  if (found.picturePages > 0 && missing !== undefined) return { ...completed(missing), properties }
  if ((found.picturePages > 0 && !recognizer) || !warnings) return FOR_NEXT_STAGE
  return { ...endOf(found, warnings), properties }
}

const CUT = 'The PDF is cut off: only its remaining part was read'

/** Appends the remarks that the text does not contain. */
function withRemarks(text: string, remarks: readonly string[]): string {
  const plain = (each: string) => each.replace(/\s+/g, ' ').trim()
  const seen = plain(text)
  return [text, ...new Set(remarks.map(plain).filter((remark) => !seen.includes(remark)))].join('\n').trimStart()
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
  emitRecognized(texts ?? [], index + 1, sink)
  if (texts && texts.length > 0) found.recognizedPages += 1
  await sink.nextPart()
}

/** Returns whether it matters if the next page is blank. It does not once the pages so far need the next stage, or too many were scans. */
function isBlankRelevant({ picturePages }: Found, recognizer: Recognizer | undefined): boolean {
  return recognizer ? picturePages <= MAX_RECOGNIZED_PAGES : picturePages === 0
}

/** In pixels; drawing a page of this size is fast, and a letter still darkens a pixel. */
const PREVIEW_SIDE = 400
/** Light letters differ from the paper by at least this much; paper and the noise of scanners differ by less. */
const PREVIEW_CONTRAST = 8

function isBlankPreview({ data }: GreyImage): boolean {
  const least = data.reduce((one, other) => Math.min(one, other), 255)
  return data.every((grey) => grey - least < PREVIEW_CONTRAST)
}

/** A scanned page may have this many letters of text, such as a stamp, a page number or the name of the scanner. */
const MAX_STAMPED_LETTERS = 150

/** Returns whether the text of a page has to be recognized: it is a scan, or its letters have no codes of characters. */
function isPicture({ text, isDrawn, isFilledByPicture }: PdfPage): boolean {
  const isStamped = isFilledByPicture && text.replace(/\s/g, '').length <= MAX_STAMPED_LETTERS
  return isDrawn && (isStamped || isMeaningless(text))
}

/** Returns whether at least half of the letters are replacement, private-use or control characters; true for an empty text. */
function isMeaningless(text: string): boolean {
  const letters = text.replace(/\s/g, '')
  return letters.replace(/[^\ufffd\ue000-\uf8ff\p{Cc}]/gu, '').length * 2 >= letters.length
}

function endOf({ textPages, recognizedPages, gap }: Found, ofAttachments: readonly string[]): ExtractionEnd {
  const warnings = [...(recognizedPages > 0 ? [RECOGNIZED] : []), ...ofAttachments]
  if (gap !== undefined) return partial(gap, warnings)
  return textPages + recognizedPages === 0
    ? partial('The PDF has no text: only its title is searchable', warnings)
    : completed(...warnings)
}
