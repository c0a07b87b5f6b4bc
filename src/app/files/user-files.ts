import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FileError, messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { makeDirectories } from '../../foundation/files/private-directory.ts'
import { moveIntoPlace } from '../../foundation/files/replace-file.ts'
import { nearestDirectory } from './paths.ts'

/** Files that a user names on the command line: read for `--data`, written for `--output`. */

export type Bytes = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

interface SaveOptions {
  /** True if an existing file may be replaced. */
  readonly force: boolean
  readonly signal?: AbortSignal
}

/** Returns the bytes of a file; throws UsageError('bad-usage'). */
export async function readUserFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new UsageError('bad-usage', `Cannot read "${file}": ${messageOf(error)}`)
  }
}

/** Returns the path of `target` or, when it is a directory, of `name` in it. */
export async function fileIn(target: string, name: string): Promise<string> {
  return (await isDirectory(target)) ? join(target, name) : resolve(target)
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/**
 * Writes a file whose content appears only when complete, or into a device or a pipe; without `force` it replaces no file. Throws
 * UsageError('bad-usage') when the file exists or its directory does not, FileError('io-error') when it cannot be written.
 */
export async function saveFile(file: string, bytes: Bytes, { force, signal }: SaveOptions): Promise<void> {
  if (!force) await reserve(file)
  const write = (target: string, flags: string) =>
    pipeline(Readable.from(bytes), createWriteStream(target, { flags }), { ...(signal && { signal }) })
  const target = await realpath(file).catch(() => file)
  // Not the name of the file and more, which could be longer than the file system allows.
  const partial = join(dirname(target), `.shelfd-${randomUUID()}.partial`)
  try {
    if (await isStream(target)) return await write(target, 'w')
    await write(partial, 'wx')
    await moveIntoPlace(partial, target, 'complete')
  } catch (error) {
    // Neither hides the cause, nor keeps the other from being removed.
    await rm(partial, { force: true }).catch(() => {})
    if (!force) await rm(file, { force: true }).catch(() => {})
    throw await toFileError(file, error)
  }
}

/** Creates a directory, and those above it, in which files are to be saved. Throws UsageError('bad-usage'). */
export async function createDirectory(directory: string): Promise<void> {
  try {
    makeDirectories(directory, 0o777)
  } catch (error) {
    const nearest = nearestDirectory(directory)
    const why = (await isDirectory(nearest)) ? messageOf(error) : `"${nearest}" is no directory`
    throw new UsageError('bad-usage', `Cannot write to "${directory}": ${why}`)
  }
}

/** Returns the SHA-256 of a file; undefined when nothing is there. Throws like `saveFile` where no file can be. */
export async function hashOfFile(file: string): Promise<Buffer | undefined> {
  const hash = createHash('sha256')
  // To read a pipe would wait for its writer without end.
  if (await isStream(file))
    throw new FileError('io-error', `Cannot write "${file}": a device, a pipe or a socket is there`)
  try {
    await pipeline(createReadStream(file), hash)
    return hash.digest()
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw await toFileError(file, error)
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
    if (systemCodeOf(error) !== 'EEXIST') throw await toFileError(file, error)
    throw new UsageError('bad-usage', `Cannot write "${file}": it exists already; --force replaces it`)
  }
}

/** Converts errors of the file system; errors of the source (the service) stay unchanged. */
async function toFileError(file: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const directory = dirname(file)
  if (!(await isDirectory(directory)))
    return new UsageError('bad-usage', `Cannot write "${file}": there is no directory "${directory}"`)
  return new FileError('io-error', `Cannot write "${file}": ${withoutCall(error)}`)
}

/** `ENOSPC: no space left on device`, without the call and its path, which is that of the unfinished file. */
function withoutCall(error: Error & { readonly syscall: unknown }): string {
  return error.message.replace(/, \w+( '.*)?$/s, '')
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
