/** The files a user names on the command line: what to read for `--data`, where to write for `--output`. */
import { createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FileError, messageOf, systemCodeOf, UsageError } from '../foundation/errors.ts'

export type Bytes = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

export interface SaveOptions {
  /** May replace a file. */
  readonly force: boolean
  readonly signal?: AbortSignal
}

/** Text of a file; throws UsageError('bad-usage'). */
export async function readUserFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError('bad-usage', `Cannot read "${file}": ${messageOf(error)}`)
  }
}

/** `target` itself, or `name` in it when it is a directory. */
export async function fileIn(target: string, name: string): Promise<string> {
  const isDirectory = await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isDirectory ? join(target, name) : resolve(target)
}

/**
 * Writes a file that appears only when it is complete and, without `force`, replaces nothing. Throws
 * UsageError('bad-usage') when it exists, FileError('io-error') when it can't be written.
 */
export async function saveFile(file: string, bytes: Bytes, { force, signal }: SaveOptions): Promise<void> {
  if (!force) await reserve(file)
  const partial = `${file}.${process.pid}.partial`
  try {
    await pipeline(Readable.from(bytes), createWriteStream(partial, { flags: 'wx' }), { ...(signal && { signal }) })
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    if (!force) await rm(file, { force: true })
    throw toFileError(file, error)
  }
}

/** Takes the name, so that no other program's file can come between. */
async function reserve(file: string): Promise<void> {
  try {
    const handle = await open(file, 'wx')
    await handle.close()
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw toFileError(file, error)
    throw new UsageError('bad-usage', `Cannot write "${file}": it exists already; --force replaces it`)
  }
}

/** Errors of the source (the service) stay what they are. */
function toFileError(file: string, error: unknown): unknown {
  const isOurs = error instanceof Error && 'syscall' in error
  return isOurs ? new FileError('io-error', `Cannot write "${file}": ${messageOf(error)}`) : error
}
