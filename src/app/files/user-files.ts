import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FileError, messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { moveIntoPlace } from '../../foundation/files/replace-file.ts'

/** Files that a user names on the command line: read for `--data`, written for `--output`. */

export type Bytes = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

interface SaveOptions {
  /** True if an existing file may be replaced. */
  readonly force: boolean
  readonly signal?: AbortSignal
}

/** Returns the text of a file; throws UsageError('bad-usage'). */
export async function readUserFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError('bad-usage', `Cannot read "${file}": ${messageOf(error)}`)
  }
}

/** Returns the path of `target` or, when it is a directory, of `name` in it. */
export async function fileIn(target: string, name: string): Promise<string> {
  const isDirectory = await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isDirectory ? join(target, name) : resolve(target)
}

/**
 * Writes a file whose content appears only when complete, or into a device or a pipe; without `force` it replaces no file. Throws
 * UsageError('bad-usage') when the file exists, FileError('io-error') when it cannot be written.
 */
export async function saveFile(file: string, bytes: Bytes, { force, signal }: SaveOptions): Promise<void> {
  if (!force) await reserve(file)
  const write = (target: string, flags: string) =>
    pipeline(Readable.from(bytes), createWriteStream(target, { flags }), { ...(signal && { signal }) })
  const target = await realpath(file).catch(() => file)
  const partial = `${target}.${process.pid}.partial`
  try {
    if (await isStream(target)) return await write(target, 'w')
    await write(partial, 'wx')
    await moveIntoPlace(partial, target, 'complete')
  } catch (error) {
    await rm(partial, { force: true })
    if (!force) await rm(file, { force: true })
    throw toFileError(file, error)
  }
}

/** Creates the directory of a file that is to be saved. Throws FileError('io-error'). */
export async function createDirectoryOf(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true }).catch((error) => {
    throw toFileError(file, error)
  })
}

/** Returns the SHA-256 of a file; undefined when nothing is there. Throws FileError('io-error') for what is no file. */
export async function hashOfFile(file: string): Promise<Buffer | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
    return hash.digest()
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw new FileError('io-error', `Cannot read "${file}", which is there already: ${messageOf(error)}`)
  }
}

/** Returns whether it is a device, a pipe or a socket, which takes what is written and must not be replaced. */
async function isStream(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

/** Creates an empty file, so that no other program can take the name meanwhile. */
async function reserve(file: string): Promise<void> {
  try {
    const handle = await open(file, 'wx')
    await handle.close()
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw toFileError(file, error)
    throw new UsageError('bad-usage', `Cannot write "${file}": it exists already; --force replaces it`)
  }
}

/** Converts errors of the file system; errors of the source (the service) stay unchanged. */
function toFileError(file: string, error: unknown): unknown {
  const isOurs = error instanceof Error && 'syscall' in error
  return isOurs ? new FileError('io-error', `Cannot write "${file}": ${messageOf(error)}`) : error
}

const MAX_BYTES = 200
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * Converts a remote name into the name of one local file: no separators, no control or reordering characters, not hidden, no
 * name that a system reserves, and short. All remote names pass it before they become local paths.
 */
export function safeFileName(name: string, otherwise = 'download'): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^[\s.~-]+|[\s.]+$/g, '')
  const short = shorten(clean)
  if (short === '') return otherwise
  return RESERVED.test(short) ? `_${short}` : short
}

function shorten(name: string): string {
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem + extension) > MAX_BYTES) stem = [...stem].slice(0, -1).join('')
  return (stem + extension).replace(/[\s.]+$/, '')
}
