import { passwordNeeded } from './archive.ts'
import { DocumentError, type ExtractionSink, unreadable } from './extraction.ts'
import { splitInto } from './passage-splitter.ts'

/** The types of records that are read ([MS-PPT] 2.13.24). */
const TYPE = {
  document: 0x03e8,
  slidePersist: 0x03f3,
  notesAtom: 0x03f1,
  textChars: 0x0fa0,
  textBytes: 0x0fa8,
  slideList: 0x0ff0,
  userEdit: 0x0ff5,
  persistDirectory: 0x1772,
  objects: 0x0409,
  placeholder: 0x0bc3,
  string: 0x0fba,
  headersFooters: 0x0fd9,
  headersFootersAtom: 0x0fda,
  tag: 0x138a,
  comment: 0x2ee0,
  shape: 0xf004,
  shapeProperties: 0xf00b,
  shapeData: 0xf011,
} as const
const SLIDES = 0
const MASTERS = 1
const NOTES = 2
/** The types of the records of objects: embedded, linked, and ActiveX controls. */
const OBJECTS: ReadonlySet<number> = new Set([0x0fcc, 0x0fce, 0x0fee])
/** The name of the tag that holds comments. */
const COMMENTS = '___PPT10'
/** In a comment, the string with this instance number is its text; number 0 is the author. */
const COMMENT_TEXT = 1
/** The flags that show the texts of header and footer, in the order of their instance numbers: a typed date, the header, the footer. */
const SHOWN_TEXTS = [0x4, 0x10, 0x20]
/** The properties of a shape that are texts ([MS-ODRAW] 2.3): its WordArt and its description. */
const TEXT_PROPERTIES: ReadonlySet<number> = new Set([0x00c0, 0x0381])
const IS_COMPLEX = 0x8000
const PROPERTY_BYTES = 6
const ENCRYPTED_TOKEN = 0xf3d1c4df
/** Containers that are nested deeper are not read. */
const MAX_DEPTH = 30

interface PptRecord {
  readonly type: number
  readonly instance: number
  readonly isContainer: boolean
  readonly body: Buffer
}

interface Slide {
  readonly id: number
  readonly container: PptRecord | undefined
  /** The texts that the outline has of this slide. */
  readonly outline: readonly string[]
}

/**
 * Emits the text of a PowerPoint 97 to 2003 presentation slide by slide, each followed by its speaker notes. Texts that all slides show
 * are emitted with the first one. Throws if the file is broken or encrypted.
 */
export function emitSlides(stream: Buffer, currentUser: Buffer, sink: ExtractionSink): EmittedSlides {
  try {
    if (currentUser.readUInt32LE(12) !== ENCRYPTED_TOKEN) return emitNewest(stream, currentUser.readUInt32LE(16), sink)
  } catch (error) {
    throw unreadable('The presentation is broken', error)
  }
  throw passwordNeeded()
}

interface EmittedSlides {
  readonly hasText: boolean
  /** True if objects such as charts are embedded, which are not read. */
  readonly hasObjects: boolean
}

/** Emits the slides of the newest save, whose record is at the offset `save`. */
function emitNewest(stream: Buffer, save: number, sink: ExtractionSink): EmittedSlides {
  const { containers, documentId } = readDirectory(stream, save)
  const document = [...recordsOf(containers.get(documentId)?.body ?? Buffer.alloc(0))]
  const lists = document.filter(({ type }) => type === TYPE.slideList)
  const slidesOf = (instance: number) =>
    lists.filter((list) => list.instance === instance).flatMap(({ body }) => readList(body, containers))
  const notes = Map.groupBy(slidesOf(NOTES), ({ container }) => slideOfNotes(container))
  const sharedTexts = [
    ...slidesOf(MASTERS).flatMap(({ container }) => (container ? textsIn(container, { ofMaster: true }) : [])),
    ...document.filter(({ type }) => type === TYPE.headersFooters).flatMap((shown) => textsIn(shown)),
  ]
  let hasText = false
  for (const [index, slide] of slidesOf(SLIDES).entries()) {
    const ownTexts = [slide, ...(notes.get(slide.id) ?? [])].flatMap(({ outline, container }) => [
      ...outline,
      ...(container ? textsIn(container) : []),
    ])
    const further = index === 0 ? new Set(sharedTexts.filter((each) => !ownTexts.includes(each))) : []
    const texts = [...ownTexts, ...further]
    // A notes page shows the number of its slide as an asterisk.
    const text = texts.filter((each) => each !== '' && each !== '*').join('\n\n')
    splitInto(text, { unit: 'slide', firstUnit: index + 1, lastUnit: index + 1 }, sink)
    hasText ||= text !== ''
  }
  return { hasText, hasObjects: document.some(({ type, body }) => type === TYPE.objects && holdsObjects(body)) }
}

/** Returns whether a list of objects has any besides hyperlinks, which are read as text. */
function holdsObjects(list: Buffer): boolean {
  return [...recordsOf(list)].some(({ type }) => OBJECTS.has(type))
}

/** Returns the newest container for each identifier, and the identifier of the document. Each save refers to the one before it. */
function readDirectory(stream: Buffer, newest: number) {
  const containers = new Map<number, PptRecord>()
  const seen = new Set<number>()
  let documentId = 0
  for (let offset = newest; offset !== 0 && !seen.has(offset); ) {
    seen.add(offset)
    const edit = recordAt(stream, offset)
    if (edit.type !== TYPE.userEdit) throw new DocumentError('its directory of slides is broken')
    if (documentId === 0) documentId = edit.body.readUInt32LE(16)
    const { body } = recordAt(stream, edit.body.readUInt32LE(12))
    for (let at = 0; at + 4 <= body.length; ) {
      const head = body.readUInt32LE(at)
      const [first, count] = [head & 0xfffff, head >>> 20]
      for (let index = 0; index < count; index += 1) {
        const start = body.readUInt32LE(at + 4 + 4 * index)
        if (!containers.has(first + index)) containers.set(first + index, recordAt(stream, start))
      }
      at += 4 + 4 * count
    }
    offset = edit.body.readUInt32LE(8)
  }
  return { containers, documentId }
}

function readList(list: Buffer, containers: ReadonlyMap<number, PptRecord>): Slide[] {
  const slides: (Slide & { readonly outline: string[] })[] = []
  for (const record of recordsOf(list)) {
    if (record.type === TYPE.slidePersist) {
      const container = containers.get(record.body.readUInt32LE(0))
      slides.push({ id: record.body.readUInt32LE(12), container, outline: [] })
    } else {
      slides.at(-1)?.outline.push(...textOf(record))
    }
  }
  return slides
}

function slideOfNotes(container: PptRecord | undefined): number | undefined {
  if (!container) return undefined
  return [...recordsOf(container.body)].find(({ type }) => type === TYPE.notesAtom)?.body.readUInt32LE(0)
}

function textsIn({ type, body }: PptRecord, { ofMaster = false, depth = 0 } = {}): string[] {
  if (depth > MAX_DEPTH) return []
  const records = [...recordsOf(body)]
  const deeper = { ofMaster, depth: depth + 1 }
  if (type === TYPE.headersFooters) return headersAndFooters(records)
  if (type === TYPE.comment) return stringsOf(records, (number) => number <= COMMENT_TEXT)
  if (type === TYPE.tag) {
    const [name, data] = records
    return name && data && decodeUtf16(name.body) === COMMENTS ? textsIn(data, deeper) : []
  }
  if (ofMaster && type === TYPE.shape && isPlaceholder(records)) return []
  return records.flatMap((record) => (record.isContainer ? textsIn(record, deeper) : textOf(record)))
}

/** Returns whether a shape of a master is a placeholder, whose text only says what to type and is not shown on slides. */
function isPlaceholder(shape: readonly PptRecord[]): boolean {
  const data = shape.find(({ type }) => type === TYPE.shapeData)
  return data !== undefined && [...recordsOf(data.body)].some(({ type }) => type === TYPE.placeholder)
}

function headersAndFooters(records: readonly PptRecord[]): string[] {
  const flags = records.find(({ type }) => type === TYPE.headersFootersAtom)?.body.readUInt16LE(2) ?? 0
  return stringsOf(records, (number) => (flags & (SHOWN_TEXTS[number] ?? 0)) > 0)
}

function stringsOf(records: readonly PptRecord[], isWanted: (number: number) => boolean): string[] {
  return records.flatMap(({ type, instance, body }) =>
    type === TYPE.string && isWanted(instance) ? decodeUtf16(body) : [],
  )
}

function decodeUtf16(text: Buffer): string {
  return text.toString('utf16le').trim()
}

/** Returns the properties of a shape that are texts. The values of such properties follow after the table of all properties. */
export function textsOfProperties(properties: Buffer, count: number): string[] {
  const texts: string[] = []
  let at = PROPERTY_BYTES * count
  for (let index = 0; index < count && at < properties.length; index += 1) {
    const [id, length] = [
      properties.readUInt16LE(PROPERTY_BYTES * index),
      properties.readUInt32LE(PROPERTY_BYTES * index + 2),
    ]
    if ((id & IS_COMPLEX) === 0) continue
    if (TEXT_PROPERTIES.has(id & 0x3fff))
      texts.push(decodeUtf16(properties.subarray(at, at + length)).replace(/(?<!\0)\0+$/, ''))
    at += length
  }
  // Some lists of points state a wrong length: all later positions are then wrong, and the bytes there are no text.
  return texts.filter((text) => /^[\P{C}\s]+$/u.test(text))
}

/** Returns the texts of one record; in it, paragraphs end with CR and lines with VT. */
function textOf({ type, instance, body }: PptRecord): string[] {
  if (type === TYPE.shapeProperties) return textsOfProperties(body, instance)
  if (type !== TYPE.textChars && type !== TYPE.textBytes) return []
  const text = body.toString(type === TYPE.textChars ? 'utf16le' : 'latin1')
  return [text.replace(/[\r\v]/g, '\n').trim()]
}

function* recordsOf(bytes: Buffer): Generator<PptRecord> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const record = recordAt(bytes, at)
    yield record
    at += 8 + record.body.length
  }
}

function recordAt(bytes: Buffer, at: number): PptRecord {
  const head = bytes.readUInt16LE(at)
  const [type, length] = [bytes.readUInt16LE(at + 2), bytes.readUInt32LE(at + 4)]
  if (at + 8 + length > bytes.length) throw new DocumentError('one of its records is truncated')
  const body = bytes.subarray(at + 8, at + 8 + length)
  return { type, instance: head >> 4, isContainer: (head & 0xf) === 0xf, body }
}
