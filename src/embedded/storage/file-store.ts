import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { flushDirectory, moveIntoPlace } from '../../foundation/files/replace-file.ts'
import { type FinishedFile, packedPath, streamContent } from '../contents/content-file.ts'
import type { ByteRange } from '../contents/seekable-zstd.ts'
import type { Tables } from '../database/open-tables.ts'
import { contentPath } from '../database/read-contents.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { MAX_SMALL_BYTES } from './content-receiver.ts'
import type { DataPaths } from './data-directory.ts'

export type FileStore = ReturnType<typeof openFileStore>

/** Large contents as files by their SHA-256, shared by all libraries: `files/ab/<sha256>`, or with `.zst` where they are compressed. */
export function openFileStore(paths: DataPaths) {
  /** Counts the uploads under way of each content. */
  const uploads = new Map<string, number>()
  const fileOf = (sha256: Buffer) => contentPath(paths.contentDir, sha256)
  const putInPlace = async (file: string, { temporaryFile, isPacked }: FinishedFile) => {
    const created = await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Always replace an existing file: a crash may have left a torn one.
    await moveIntoPlace(temporaryFile, isPacked ? packedPath(file) : file, 'durable')
    if (created !== undefined) await flushDirectory(paths.contentDir)
  }
  return {
    temporaryDir: paths.temporaryDir,
    /** Moves a flushed temporary file to its place, durably. `remove` leaves it there until `release`. */
    async keep(sha256: Buffer, file: FinishedFile) {
      const hex = sha256.toString('hex')
      uploads.set(hex, (uploads.get(hex) ?? 0) + 1)
      await putInPlace(fileOf(sha256), file)
    },
    release(sha256: Buffer) {
      const hex = sha256.toString('hex')
      const count = (uploads.get(hex) ?? 0) - 1
      if (count > 0) uploads.set(hex, count)
      else uploads.delete(hex)
    },
    /** Removes the file unless an upload of the same bytes is under way. */
    remove(sha256: Buffer) {
      if (uploads.has(sha256.toString('hex'))) return
      for (const file of [fileOf(sha256), packedPath(fileOf(sha256))]) rmSync(file, { force: true })
    },
    /** Returns the path of the uncompressed content; `streamContent` takes it for a compressed one as well. */
    pathOf: fileOf,
    stream: (sha256: Buffer, range?: ByteRange) => streamContent(fileOf(sha256), range),
  }
}

/** Returns the original bytes of a resource, or a part of them: a small content as a buffer, a large one as a stream. */
export function readContent(
  tables: Tables,
  files: FileStore,
  resource: ResourceRow,
  range?: ByteRange,
): Buffer | Readable {
  if (resource.sizeBytes > MAX_SMALL_BYTES) return files.stream(resource.sha256, range)
  const bytes = tables.smallContents.read(resource.id)
  if (!bytes) throw new Error(`The content of resource ${resource.publicId} is missing`)
  return range ? bytes.subarray(range.start, range.end + 1) : bytes
}
