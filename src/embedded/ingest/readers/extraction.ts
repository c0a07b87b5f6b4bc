import type { IngestionStatus } from '../../../contract/states.ts'
import type { Passage } from '../../database/passages-table.ts'

/** The end of one extraction. */
export interface ExtractionEnd {
  /** A final state of the ingestion, or `running`: the next stage has to read the document. */
  readonly status: IngestionStatus
  readonly warnings: readonly string[]
  /** The reason why it is `partial` or `failed`. */
  readonly failure: string | null
  /** The MIME type of its passages; without one, Markdown for Markdown and plain text for all else. */
  readonly textType?: TextType | undefined
  /** Properties of the document beside its text. */
  readonly properties?: Properties | undefined
  /** The MIME type of its moving pictures, which are an asset; undefined without any. */
  readonly videoType?: string | undefined
}

export const TEXT_TYPES = ['text/plain', 'text/markdown'] as const
type TextType = (typeof TEXT_TYPES)[number]

/** Such as `{"pages": 3}`, `{"width": 640, "height": 480}`, `{"duration_seconds": 12.5}`. */
type Properties = Readonly<Record<string, string | number>>

/** A file in chunks. `chunks` may be called again. */
export interface ExtractionSource {
  readonly mimeType: string
  /** The encoding that its sender named. */
  readonly charset?: string | null | undefined
  readonly sizeBytes: number
  /** Its path, if it is a file. */
  readonly path?: string | undefined
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>
}

export interface ExtractionSink {
  /** Discards all passages taken so far, because the file is read again. */
  restart(): void
  take(passage: Passage): void
  /** Awaited between the parts of the file. */
  drain(): Promise<void> | void
  /** Awaited after each part of a document that may take the time of a whole one, such as a page that is recognized. */
  nextPart(): Promise<void> | void
}

/** Reads a document that another one holds. */
export type NestedReader = (
  part: { readonly mimeType: string; readonly bytes: Buffer },
  sink: ExtractionSink,
) => Promise<ExtractionEnd>

/** The end of a document that the next stage has to read. */
export const FOR_NEXT_STAGE: ExtractionEnd = { status: 'running', warnings: [], failure: null }

/** The end of a document that was read whole: `completed`, or with warnings. */
export function completed(...warnings: readonly string[]): ExtractionEnd {
  return { status: warnings.length === 0 ? 'completed' : 'completed_with_warnings', warnings, failure: null }
}

export function partial(failure: string, warnings: readonly string[] = []): ExtractionEnd {
  return { status: 'partial', warnings, failure }
}

/** What is wrong with a document, in words for its user. */
export class DocumentError extends Error {}

/**
 * The error for a document that a parser refuses; what a foreign parser says is for its programmers, and stays in the cause. A bound of
 * ours that ended reading is not a fault of the document.
 */
export function unreadable(what: string, error: unknown): Error {
  if (error instanceof TooMuchTextError) return error
  const text = error instanceof DocumentError ? `${what}: ${error.message}` : what
  return new DocumentError(text, { cause: error })
}

/** The whole file in memory; throws when it is larger than a parser may take. */
export async function readWhole(source: ExtractionSource): Promise<Buffer> {
  if (source.sizeBytes > MAX_WHOLE_BYTES) {
    const [size, most] = [source.sizeBytes, MAX_WHOLE_BYTES].map((bytes) => Math.round(bytes / 2 ** 20))
    throw new Error(`The document has ${size} MiB; of this kind at most ${most} MiB are read`)
  }
  return Buffer.concat(await Array.fromAsync(source.chunks()))
}

const MAX_WHOLE_BYTES = 256 * 2 ** 20

/** The document has more than `maxPassages` passages. */
class TooMuchTextError extends Error {}

/** Passes on at most `maxPassages` passages of what `read` emits; if there are more, the end is `partial`. */
export async function readBounded(
  sink: ExtractionSink,
  maxPassages: number,
  read: (sink: ExtractionSink) => Promise<ExtractionEnd>,
): Promise<ExtractionEnd> {
  try {
    return await read(bounded(sink, maxPassages))
  } catch (error) {
    if (!(error instanceof TooMuchTextError)) throw error
    return partial(error.message)
  }
}

function bounded(sink: ExtractionSink, maxPassages: number): ExtractionSink {
  let count = 0
  return {
    restart: () => {
      count = 0
      sink.restart()
    },
    take: (passage) => {
      count += 1
      if (count > maxPassages) {
        throw new TooMuchTextError(`Only the first ${maxPassages} passages of the text are searchable`)
      }
      sink.take(passage)
    },
    drain: () => sink.drain(),
    nextPart: () => sink.nextPart(),
  }
}

export const NO_TEXT =
  'No text was extracted: this kind of file is kept and can be downloaded, but only its title is searchable'
export const REPLACED_BYTES = 'The text is not valid in its encoding: the faulty bytes were replaced'
export const MOSTLY_REPLACED =
  'More than a tenth of the letters are not valid in the encoding of the text: only its title is searchable'
export const TABLE_AS_LINES = 'The table is not well-formed: its lines were read as plain text'

export function guessedEncoding(encoding: string): string {
  return `The encoding is not stated: the text was read as ${encoding}, which fits its bytes best`
}
export function unreadableEncoding(encoding: string): string {
  return `The text says that its encoding is ${encoding}, which cannot be read: only its title is searchable`
}
export const UNSUPPORTED_FORMAT = 'Documents in this format cannot be read: only its title is searchable'
export const NOT_DECODED = 'Pictures of this kind cannot be decoded: only its title is searchable'

/** Parts of what is said of documents that a later version may read. */
export const UNREAD_KINDS = [NO_TEXT, UNSUPPORTED_FORMAT, NOT_DECODED, 'which cannot be read']
