import { z } from 'zod'
import { outageShape } from '../remote/policies/outage.ts'

const count = z.number()

const uploadProgress = z.object({ path: z.string(), sizeBytes: count, bytesSent: count })

/** What is going on now: plain counters that stages raise and a display reads when it likes. */
export const progressShape = z.object({
  mirror: z.string(),
  phase: z.enum(['starting', 'scanning', 'directories', 'uploading', 'ingestion', 'finished']),
  filesScanned: count,
  filesHashed: count,
  bytesHashed: count,
  directoriesDone: count,
  directoriesTotal: count,
  contentsSent: count,
  /** Sent, and left to be sent as far as that is known. */
  contentsTotal: count,
  /** Of what was sent, and of what has left for uploads under way; takes back what left in vain. */
  bytesSent: count,
  bytesTotal: count,
  /** Those under way, at most as many as run at a time. */
  uploads: z.array(uploadProgress),
  inIngestion: count,
  searchable: count,
  /** What keeps the run from going on now; null: nothing. */
  outage: outageShape.nullable(),
})

export type UploadProgress = z.infer<typeof uploadProgress>
export type Progress = z.infer<typeof progressShape>

export function createProgress(): Progress {
  return {
    mirror: '',
    phase: 'starting',
    filesScanned: 0,
    filesHashed: 0,
    bytesHashed: 0,
    directoriesDone: 0,
    directoriesTotal: 0,
    contentsSent: 0,
    contentsTotal: 0,
    bytesSent: 0,
    bytesTotal: 0,
    uploads: [],
    inIngestion: 0,
    searchable: 0,
    outage: null,
  }
}

/** So much is left to be sent beside what was sent so far; called again, it corrects what was announced before. */
export function announceUploads(progress: Progress, left: { readonly n: number; readonly bytes: number }): void {
  progress.phase = 'uploading'
  progress.contentsTotal = progress.contentsSent + left.n
  progress.bytesTotal = progress.bytesSent + left.bytes
}

/** One that was announced will not be sent by this run. */
export function withdrawUpload(progress: Progress, sizeBytes: number): void {
  progress.contentsTotal -= 1
  progress.bytesTotal -= sizeBytes
}

/** Counts one upload's bytes as they leave. */
interface UploadCounter {
  /** The same body, counted; a body that is opened again begins anew. */
  count(body: Uint8Array | AsyncIterable<Uint8Array>): Uint8Array | AsyncIterable<Uint8Array>
  /** It is over; what left in vain is taken back. */
  end(isStored: boolean): void
}

/** `isLink`: it is not among what was announced as left to be sent. */
export function beginUpload(
  progress: Progress,
  { path, sizeBytes, isLink }: { readonly path: string; readonly sizeBytes: number; readonly isLink: boolean },
): UploadCounter {
  const upload = { path, sizeBytes, bytesSent: 0 }
  progress.uploads.push(upload)
  if (isLink) {
    progress.contentsTotal += 1
    progress.bytesTotal += sizeBytes
  }
  // What comes unannounced, such as a refused content whose next try is due, counts once it begins.
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
    // Asked for the next one: this one was taken by the wire.
    add(chunk.length)
  }
}
