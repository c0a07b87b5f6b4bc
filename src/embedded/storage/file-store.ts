import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { flushDirectory, moveIntoPlace } from '../../foundation/files/replace-file.ts'
import { type FinishedFile, packedPath, packFile, plainPath, streamContent } from './content-file.ts'
import type { DataPaths } from './data-directory.ts'
import type { ByteRange } from './seekable-zstd.ts'

/** Large contents as files by their SHA-256, shared by all libraries: `files/ab/<sha256>`, or with `.zst` where they are compressed. */
export interface FileStore {
  readonly temporaryDir: string
  /** Moves a flushed temporary file to its place, durably. `remove` leaves it there until `release`. */
  keep(sha256: Buffer, file: FinishedFile): Promise<void>
  release(sha256: Buffer): void
  /** Compresses a content that an earlier version stored as it was, if it is text. */
  pack(sha256: Buffer, signal: AbortSignal): Promise<void>
  /** Removes the file unless an upload of the same bytes is under way. */
  remove(sha256: Buffer): void
  stream(sha256: Buffer, range?: ByteRange): Readable
  /** Where the content stands as it is; for those who read it by `streamContent` also where it is compressed. */
  pathOf(sha256: Buffer): string
}

export function openFileStore(paths: DataPaths): FileStore {
  const held = new Map<string, number>()
  const folderOf = (hex: string) => join(paths.contentDir, hex.slice(0, 2))
  const fileOf = (hex: string) => join(folderOf(hex), hex)
  const putInPlace = async (hex: string, { temporaryFile, isPacked }: FinishedFile) => {
    const created = await mkdir(folderOf(hex), { recursive: true, mode: 0o700 })
    // Always replace an existing file: a crash may have left a torn one.
    await moveIntoPlace(temporaryFile, isPacked ? packedPath(fileOf(hex)) : fileOf(hex), 'durable')
    if (isPacked) await removePlain(fileOf(hex))
    if (created !== undefined) await flushDirectory(paths.contentDir)
  }
  return {
    temporaryDir: paths.temporaryDir,
    async keep(sha256, file) {
      const hex = sha256.toString('hex')
      held.set(hex, (held.get(hex) ?? 0) + 1)
      await putInPlace(hex, file)
    },
    async pack(sha256, signal) {
      const hex = sha256.toString('hex')
      const plain = plainPath(fileOf(hex))
      if (plain === undefined) return
      await using packed = await packFile(plain, join(paths.temporaryDir, randomUUID()), signal)
      if (packed.isPacked) await putInPlace(hex, packed)
    },
    release(sha256) {
      const hex = sha256.toString('hex')
      const count = (held.get(hex) ?? 0) - 1
      if (count > 0) held.set(hex, count)
      else held.delete(hex)
    },
    remove(sha256) {
      const hex = sha256.toString('hex')
      if (held.has(hex)) return
      for (const file of [fileOf(hex), packedPath(fileOf(hex))]) rmSync(file, { force: true })
    },
    pathOf: (sha256) => fileOf(sha256.toString('hex')),
    stream: (sha256, range) => streamContent(fileOf(sha256.toString('hex')), range),
  }
}

/** Readers prefer this file; an earlier version may have left it, maybe torn by a crash. */
async function removePlain(file: string): Promise<void> {
  if (plainPath(file) === undefined) return
  await rm(file)
  await flushDirectory(dirname(file))
}
