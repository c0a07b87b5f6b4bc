import { z } from 'zod'
import { outageShape } from '../remote/policies/outage.ts'

const count = z.number().default(0)

const uploadProgress = z.object({ path: z.string(), sizeBytes: z.number(), bytesSent: z.number() })

/** `turn`: another scan runs; `ledger`: the ledger is asked; `asking`: the user is asked; `hosts`: other hosts send what remains. */
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

/** The progress of a run: plain counters that stages increase and a display reads at any time. The defaults are the initial values. */
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
  /** Bytes of stored contents and bytes sent by uploads in flight; the bytes of a failed upload are subtracted. */
  bytesSent: count,
  bytesTotal: count,
  uploads: z.array(uploadProgress).prefault([]),
  inIngestion: count,
  /** Path of the resource that has been in ingestion longest; empty if none is. */
  inIngestionLongest: z.string().default(''),
  searchable: count,
  documentsEmbedded: count,
  documentsToEmbed: count,
  /** The outage whose end the run is waiting for; null if there is none. */
  outage: outageShape.nullable().default(null),
})

export type UploadProgress = z.infer<typeof uploadProgress>
export type Progress = z.infer<typeof progressShape>

export function createProgress(): Progress {
  return progressShape.parse({})
}

/** Begins the phase `uploading`, and computes the totals from what remains to be uploaded. */
export function announceUploads(progress: Progress, remaining: { readonly n: number; readonly bytes: number }): void {
  progress.phase = 'uploading'
  progress.contentsTotal = progress.contentsSent + remaining.n
  progress.bytesTotal = progress.bytesSent + remaining.bytes
}

export function withdrawUpload(progress: Progress, sizeBytes: number): void {
  progress.contentsTotal -= 1
  progress.bytesTotal -= sizeBytes
}

interface UploadCounter {
  /** Returns a body with the same bytes, which are counted as they are read. Each call restarts the count of the upload. */
  count(body: Uint8Array | AsyncIterable<Uint8Array>): Uint8Array | AsyncIterable<Uint8Array>
  /** Ends the count; if the upload failed, subtracts what was counted. */
  end(isStored: boolean): void
}

export function beginUpload(
  progress: Progress,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
): UploadCounter {
  const upload = { path, sizeBytes, bytesSent: 0 }
  progress.uploads.push(upload)
  // The announced totals may lack an upload, such as that of a refused content that is due again.
  const { uploads } = progress
  const remainingBytes = uploads.reduce((bytes, other) => bytes + other.sizeBytes - other.bytesSent, 0)
  progress.contentsTotal = Math.max(progress.contentsTotal, progress.contentsSent + uploads.length)
  progress.bytesTotal = Math.max(progress.bytesTotal, progress.bytesSent + remainingBytes)
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
    // The connection asks for the next chunk only after it has accepted this one.
    add(chunk.length)
  }
}
