import { createReadStream, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { flushDirectory, moveIntoPlace } from '../../foundation/files/replace-file.ts'
import type { DataPaths } from './data-directory.ts'

const READ_CHUNK_BYTES = 64 * 1024

/** A part of a content in bytes; both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Large contents as files by their SHA-256, shared by all libraries: `files/ab/<sha256>`. */
export interface FileStore {
  readonly temporaryDir: string
  /** Moves a flushed temporary file to its place, durably. `remove` leaves it there until `release`. */
  keep(sha256: Buffer, temporaryFile: string): Promise<void>
  release(sha256: Buffer): void
  /** Removes the file unless an upload of the same bytes is under way. */
  remove(sha256: Buffer): void
  stream(sha256: Buffer, range?: ByteRange): Readable
  /** The path, for the child process, which reads the file itself. */
  pathOf(sha256: Buffer): string
}

export function openFileStore(paths: DataPaths): FileStore {
  const held = new Map<string, number>()
  const folderOf = (hex: string) => join(paths.contentDir, hex.slice(0, 2))
  const fileOf = (hex: string) => join(folderOf(hex), hex)
  return {
    temporaryDir: paths.temporaryDir,
    async keep(sha256, temporaryFile) {
      const hex = sha256.toString('hex')
      held.set(hex, (held.get(hex) ?? 0) + 1)
      const created = await mkdir(folderOf(hex), { recursive: true, mode: 0o700 })
      // Always replace an existing file: a crash may have left a torn one.
      await moveIntoPlace(temporaryFile, fileOf(hex), 'durable')
      if (created !== undefined) await flushDirectory(paths.contentDir)
    },
    release(sha256) {
      const hex = sha256.toString('hex')
      const count = (held.get(hex) ?? 0) - 1
      if (count > 0) held.set(hex, count)
      else held.delete(hex)
    },
    remove(sha256) {
      const hex = sha256.toString('hex')
      if (!held.has(hex)) rmSync(fileOf(hex), { force: true })
    },
    pathOf: (sha256) => fileOf(sha256.toString('hex')),
    stream: (sha256, range) =>
      createReadStream(fileOf(sha256.toString('hex')), { highWaterMark: READ_CHUNK_BYTES, ...range }),
  }
}
