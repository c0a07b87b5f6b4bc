import type { IngestionStatus } from '../../../contract/states.ts'
import type { Passage } from '../../database/passages-table.ts'

/** How the extraction of a document ended. */
export interface ExtractionEnd {
  /** The final state of the ingestion; `running` if the next stage has to read the document. */
  readonly status: IngestionStatus
  readonly warnings: readonly string[]
  /** Why the document is `partial` or `failed`; null otherwise. */
  readonly failure: string | null
  /** The MIME type of the passages; undefined for Markdown if the document is Markdown, otherwise for plain text. */
  readonly textType?: TextType | undefined
  /** What is known of the document besides its text. */
  readonly properties?: Properties | undefined
  /** The MIME type of a video, which is also offered as an asset; undefined if the document has no moving pictures. */
  readonly videoType?: string | undefined
}

export const TEXT_TYPES = ['text/plain', 'text/markdown'] as const
type TextType = (typeof TEXT_TYPES)[number]

/** Such as `{"pages": 3}`, `{"width": 640, "height": 480}`, `{"duration_seconds": 12.5}`. */
type Properties = Readonly<Record<string, string | number>>

export interface ExtractionSource {
  readonly mimeType: string
  /** The encoding that the sender named. */
  readonly charset?: string | null | undefined
  readonly sizeBytes: number
  /** The path of the document; undefined if it is not an uncompressed file. */
  readonly path?: string | undefined
  /** Starts from the beginning at each call. */
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>
}

export interface ExtractionSink {
  /** Discards all passages emitted so far, because the document is read again. */
  restart(): void
  emit(passage: Passage): void
  /** Readers await this between parts of a document, so that passages can be written. */
  drain(): Promise<void> | void
  /** Readers await this after a part that takes long, such as a recognized page: the time limit starts anew. */
  nextPart(): Promise<void> | void
}

/** Reads a document that is contained in another one. */
export type NestedReader = (
  part: { readonly mimeType: string; readonly bytes: Buffer },
  sink: ExtractionSink,
) => Promise<ExtractionEnd>

export const FOR_NEXT_STAGE: ExtractionEnd = { status: 'running', warnings: [], failure: null }

/** Returns the end of a document that was read completely. */
export function completed(...warnings: readonly string[]): ExtractionEnd {
  return { status: warnings.length === 0 ? 'completed' : 'completed_with_warnings', warnings, failure: null }
}

export function partial(failure: string, warnings: readonly string[] = []): ExtractionEnd {
  return { status: 'partial', warnings, failure }
}

/** A fault of the document; the message is for its user. */
export class DocumentError extends Error {}

/**
 * Returns the error for a document that a parser refuses. Messages of foreign parsers are for programmers, and are only kept as the
 * cause. An error about too much text is returned unchanged, because it is not a fault of the document.
 */
export function unreadable(what: string, error: unknown): Error {
  if (error instanceof TooMuchTextError) return error
  const text = error instanceof DocumentError ? `${what}: ${error.message}` : what
  return new DocumentError(text, { cause: error })
}

/** Returns the whole document in memory. Throws if it is larger than MAX_WHOLE_BYTES. */
export async function readWhole(source: ExtractionSource): Promise<Buffer> {
  if (source.sizeBytes > MAX_WHOLE_BYTES) {
    const [size, max] = [source.sizeBytes, MAX_WHOLE_BYTES].map((bytes) => Math.round(bytes / 2 ** 20))
    throw new Error(`The document has ${size} MiB; of this kind at most ${max} MiB are read`)
  }
  return Buffer.concat(await Array.fromAsync(source.chunks()))
}

const MAX_WHOLE_BYTES = 256 * 2 ** 20

/** The document has more than `maxPassages` passages. */
class TooMuchTextError extends Error {}

/** Passes on at most `maxPassages` of the passages that `read` emits; if it emits more, the end is `partial`. */
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
    emit: (passage) => {
      count += 1
      if (count > maxPassages) {
        throw new TooMuchTextError(`Only the first ${maxPassages} passages of the text are searchable`)
      }
      sink.emit(passage)
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

/** Parts of the failures and warnings of documents that a later version may be able to read; stored ones are searched for them. */
export const UNREAD_KINDS = [NO_TEXT, UNSUPPORTED_FORMAT, NOT_DECODED, 'which cannot be read']
