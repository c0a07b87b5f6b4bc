import { z } from 'zod'
import { outageShape } from '../remote/policies/outage.ts'

const count = z.number().default(0)

const uploadProgress = z.object({ path: z.string(), sizeBytes: z.number(), bytesSent: z.number() })

/** `turn`: another sync runs; `ledger`: the ledger is asked; `hosts`: other hosts send the remaining contents. */
const phases = [
  'starting',
  'turn',
  'scanning',
  'ledger',
  'asking',
  'directories',
  'uploading',
  'hosts',
  'ingestion',
  'finished',
  'embedding',
] as const

/** The progress of a run: plain counters that stages increase and a display reads at any time. The defaults are its beginning. */
export const progressShape = z.object({
  mirror: z.string().default(''),
  phase: z.enum(phases).default('starting'),
  filesScanned: count,
  filesHashed: count,
  bytesHashed: count,
  directoriesDone: count,
  directoriesTotal: count,
  contentsSent: count,
  contentsTotal: count,
  /** Bytes of stored contents and bytes sent by uploads in flight; a failed upload subtracts its bytes. */
  bytesSent: count,
  bytesTotal: count,
  uploads: z.array(uploadProgress).prefault([]),
  inIngestion: count,
  /** Path of the resource that is followed for the longest time; empty without one. */
  inIngestionLongest: z.string().default(''),
  searchable: count,
  documentsEmbedded: count,
  documentsToEmbed: count,
  /** The outage that stops the run for the moment; null: none. */
  outage: outageShape.nullable().default(null),
})

export type UploadProgress = z.infer<typeof uploadProgress>
export type Progress = z.infer<typeof progressShape>

export function createProgress(): Progress {
  return progressShape.parse({})
}

/** Sets how much is left to upload; another call corrects the totals of the one before. */
export function announceUploads(progress: Progress, left: { readonly n: number; readonly bytes: number }): void {
  progress.phase = 'uploading'
  progress.contentsTotal = progress.contentsSent + left.n
  progress.bytesTotal = progress.bytesSent + left.bytes
}

export function withdrawUpload(progress: Progress, sizeBytes: number): void {
  progress.contentsTotal -= 1
  progress.bytesTotal -= sizeBytes
}

interface UploadCounter {
  /** Returns the same body, counted; the count starts again with each body. */
  count(body: Uint8Array | AsyncIterable<Uint8Array>): Uint8Array | AsyncIterable<Uint8Array>
  /** Ends the count; if the upload failed, subtracts its bytes. */
  end(isStored: boolean): void
}

export function beginUpload(
  progress: Progress,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
): UploadCounter {
  const upload = { path, sizeBytes, bytesSent: 0 }
  progress.uploads.push(upload)
  // An upload that was not announced, such as a refused content that is due again, counts from its start.
  const { uploads } = progress
  const bytesLeft = uploads.reduce((bytes, other) => bytes + other.sizeBytes - other.bytesSent, 0)
  progress.contentsTotal = Math.max(progress.contentsTotal, progress.contentsSent + uploads.length)
  progress.bytesTotal = Math.max(progress.bytesTotal, progress.bytesSent + bytesLeft)
  const add = (bytes: number) => {
    upload.bytesSent += bytes
    progress.bytesSent += bytes
  }
  return {
    count: (body) => {
      add(-upload.bytesSent)
      if (!(body instanceof Uint8Array)) return countChunks(body, add)
      add(body.length)
      return body
    },
    end: (isStored) => {
      add((isStored ? sizeBytes : 0) - upload.bytesSent)
      progress.uploads = progress.uploads.filter((other) => other !== upload)
    },
  }
}

async function* countChunks(
  chunks: AsyncIterable<Uint8Array>,
  add: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    yield chunk
    // The next chunk was requested, so the connection has taken this one.
    add(chunk.length)
  }
}
