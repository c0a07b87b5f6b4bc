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

/** Opens the files of large contents, which all libraries share: `files/ab/<sha256>`, with `.zst` appended if the file is compressed. */
export function openFileStore(paths: DataPaths) {
  /** The number of uploads in progress for each content. */
  const uploads = new Map<string, number>()
  const fileOf = (sha256: Buffer) => contentPath(paths.contentDir, sha256)
  const putInPlace = async (file: string, { temporaryFile, isPacked }: FinishedFile) => {
    const created = await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Replaces an existing file as well, because it may be incomplete after a crash.
    await moveIntoPlace(temporaryFile, isPacked ? packedPath(file) : file, 'durable')
    if (created !== undefined) await flushDirectory(paths.contentDir)
  }
  return {
    temporaryDir: paths.temporaryDir,
    /** Moves a flushed temporary file durably into the store. Until `release` is called, `remove` does not remove it. */
    async store(sha256: Buffer, file: FinishedFile) {
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
    /** Removes the file of a content, unless an upload of the same bytes is between `store` and `release`. */
    remove(sha256: Buffer) {
      if (uploads.has(sha256.toString('hex'))) return
      for (const file of [fileOf(sha256), packedPath(fileOf(sha256))]) rmSync(file, { force: true })
    },
    /** Returns the path of a content, without the `.zst` of a compressed file. */
    pathOf: fileOf,
    stream: (sha256: Buffer, range?: ByteRange) => streamContent(fileOf(sha256), range),
  }
}

/** Returns the original bytes of a resource, or a range of them: a small content as a buffer, a large one as a stream. */
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
