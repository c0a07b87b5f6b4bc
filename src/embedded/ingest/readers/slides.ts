import { passwordNeeded } from './archive.ts'
import { DocumentError, type ExtractionSink, unreadable } from './extraction.ts'
import { splitInto } from './passage-splitter.ts'

/** Types of records ([MS-PPT] 2.13.24). */
const TYPE = {
  document: 0x03e8,
  slidePersist: 0x03f3,
  notesAtom: 0x03f1,
  textChars: 0x0fa0,
  textBytes: 0x0fa8,
  slideList: 0x0ff0,
  userEdit: 0x0ff5,
  persistDirectory: 0x1772,
} as const
const SLIDES = 0
const NOTES = 2
const ENCRYPTED_TOKEN = 0xf3d1c4df
/** Deeper containers are not looked into. */
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
  /** What the outline has of it. */
  readonly outline: readonly string[]
}

/**
 * Emits the text of a presentation of PowerPoint 97 to 2003 slide by slide, the speaker's notes after each; returns whether there is any.
 * Every saving may add slides at the end of the stream: the directory says which ones count. Throws when it is broken or encrypted.
 */
export function takeSlides(stream: Buffer, currentUser: Buffer, sink: ExtractionSink): boolean {
  try {
    if (currentUser.readUInt32LE(12) !== ENCRYPTED_TOKEN) return takeNewest(stream, currentUser.readUInt32LE(16), sink)
  } catch (error) {
    throw unreadable('The presentation is broken', error)
  }
  throw passwordNeeded()
}

function takeNewest(stream: Buffer, saving: number, sink: ExtractionSink): boolean {
  const { containers, documentId } = readDirectory(stream, saving)
  const lists = [...recordsOf(containers.get(documentId)?.body ?? Buffer.alloc(0))].filter(
    ({ type }) => type === TYPE.slideList,
  )
  const slidesOf = (instance: number) =>
    lists.filter((list) => list.instance === instance).flatMap(({ body }) => readList(body, containers))
  const notes = Map.groupBy(slidesOf(NOTES), ({ container }) => slideOfNotes(container))
  let hasText = false
  for (const [index, slide] of slidesOf(SLIDES).entries()) {
    const texts = [slide, ...(notes.get(slide.id) ?? [])].flatMap(({ outline, container }) => [
      ...outline,
      ...(container ? textsIn(container) : []),
    ])
    // A notes page shows the number of its slide as an asterisk.
    const text = texts.filter((each) => each !== '' && each !== '*').join('\n\n')
    splitInto(text, { unit: 'slide', firstUnit: index + 1, lastUnit: index + 1 }, sink)
    hasText ||= text !== ''
  }
  return hasText
}

/** The newest container of each identifier, and the identifier of the document; older savings follow newer ones. */
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
        const place = body.readUInt32LE(at + 4 + 4 * index)
        if (!containers.has(first + index)) containers.set(first + index, recordAt(stream, place))
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

function textsIn({ body }: PptRecord, depth = 0): string[] {
  if (depth > MAX_DEPTH) return []
  return [...recordsOf(body)].flatMap((record) => (record.isContainer ? textsIn(record, depth + 1) : textOf(record)))
}

/** Paragraphs end with CR, lines with VT. */
function textOf({ type, body }: PptRecord): string[] {
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
  if (at + 8 + length > bytes.length) throw new DocumentError('a record of it is cut')
  const body = bytes.subarray(at + 8, at + 8 + length)
  return { type, instance: head >> 4, isContainer: (head & 0xf) === 0xf, body }
}
