import { createHash } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { copyFile, link, lstat, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FileError, messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { findIntruder } from '../../foundation/files/ownership.ts'
import { ForeignPlaceError, followOwnLinks, holdDirectory } from '../../foundation/files/trusted-path.ts'
import { isLinkUnsupported, unfinishedIn } from '../../foundation/files/unfinished-file.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { nearestDirectory } from './paths-on-disk.ts'

export type Bytes = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

interface SaveOptions {
  readonly force: boolean
  /** The directory that the user named. No directory between it and the file may belong to another user. */
  readonly below?: string
  readonly signal?: AbortSignal
}

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
 * Writes under another name first, so that the file appears only when it is complete. Without `force` it replaces no file; with `force`
 * it also writes into a device or a pipe. Throws UsageError('bad-usage' or 'insecure-file') and FileError('io-error').
 */
export async function saveFile(file: string, bytes: Bytes, { force, below, signal }: SaveOptions): Promise<void> {
  const write = (target: string, flags: string) =>
    pipeline(Readable.from(bytes), createWriteStream(target, { flags }), { ...(signal && { signal }) })
  try {
    if (force && (await isStream(file))) return await write(file, 'w')
    const target = force ? (followOwnLinks(file) ?? file) : file
    using directory = holdDirectory(dirname(target), below === undefined ? {} : { below })
    const place = directory.at(basename(target))
    const before = await fingerprintAt(place)
    if (before !== undefined && !force) throw existsAlready(file)
    const partial = unfinishedIn(directory)
    try {
      await write(partial, 'wx')
      if (before === undefined) await linkIntoPlace(partial, place)
      else if (before === (await fingerprintAt(place))) await rename(partial, place)
      else throw new FileError('io-error', `Cannot write "${file}": another program has changed it meanwhile`)
    } finally {
      // If the unfinished file cannot be removed, that error must not replace the first one.
      await rm(partial, { force: true }).catch(() => {})
    }
  } catch (error) {
    throw systemCodeOf(error) === 'EEXIST' ? existsAlready(file) : await toFileError(file, error)
  }
}

function existsAlready(file: string): UsageError {
  return new UsageError('bad-usage', `Cannot write "${file}": it exists already; --force replaces it`)
}

async function fingerprintAt(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw error
  })
  return found && `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`
}

async function linkIntoPlace(partial: string, place: string): Promise<void> {
  try {
    await link(partial, place)
  } catch (error) {
    if (!isLinkUnsupported(error)) throw error
    await copyFile(partial, place, constants.COPYFILE_EXCL)
  }
}

/** Creates the directory if it is missing. Throws UsageError('bad-usage' or 'insecure-file'). */
export async function createDirectory(directory: string, { below }: Pick<SaveOptions, 'below'> = {}): Promise<void> {
  try {
    holdDirectory(directory, { mayCreate: true, ...(below !== undefined && { below }) })[Symbol.dispose]()
  } catch (error) {
    if (error instanceof ForeignPlaceError) throw toInsecureFileError(directory, error)
    const nearest = nearestDirectory(directory)
    const why = (await isDirectory(nearest)) ? messageOf(error) : `"${nearest}" is not a directory`
    throw new UsageError('bad-usage', `Cannot write to "${directory}": ${why}`)
  }
}

/** Prints a warning if the target directory belongs to another user. */
export async function warnOfForeignDirectory(printMessage: (line: string) => void, directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined)
  const intruder = found && findIntruder(directory, { ...found, mode: 0 }, { owners: 'root' })
  if (!intruder) return
  printMessage(escapeText(`Another user can change what is written to "${directory}": ${intruder.why}`))
}

function toInsecureFileError(path: string, { message }: ForeignPlaceError): UsageError {
  return new UsageError('insecure-file', `Cannot write to "${path}": ${message}; choose another directory`)
}

/** Returns the SHA-256 of the file; undefined if there is none. Throws as `saveFile` does. */
export async function hashOfFile(file: string): Promise<Buffer | undefined> {
  const hash = createHash('sha256')
  // Reading a pipe could wait for ever.
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

async function isStream(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

/** Returns a UsageError or a FileError for an error of the file system, and an error of the service unchanged. */
async function toFileError(file: string, error: unknown): Promise<unknown> {
  if (error instanceof ForeignPlaceError) return toInsecureFileError(file, error)
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const directory = dirname(file)
  if (!(await isDirectory(directory)))
    return new UsageError('bad-usage', `Cannot write "${file}": there is no directory "${directory}"`)
  return new FileError('io-error', `Cannot write "${file}": ${withoutCall(error)}`)
}

/** Returns the message without the system call and the path of the unfinished file: `ENOSPC: no space left on device`. */
function withoutCall(error: Error & { readonly syscall: unknown }): string {
  return error.message.replace(/, \w+( '.*)?$/s, '')
}

const MAX_BYTES = 200
/** How many characters at each end of a long name are cleaned; the time for this grows with the square of their number. */
const CLEANED_AT_EACH_END = 300
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** Returns a local file name without separators, control characters or reserved names. Every remote name must pass through it. */
export function safeFileName(name: string, fallback = 'download'): string {
  const isLong = name.length > 2 * CLEANED_AT_EACH_END
  const ends = isLong ? name.slice(0, CLEANED_AT_EACH_END) + name.slice(-CLEANED_AT_EACH_END) : name
  const clean = ends
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^[\s.~-]+|[\s.]+$/g, '')
  const short = shorten(clean)
  if (short === '') return fallback
  return RESERVED.test(short) ? `_${short}` : short
}

function shorten(name: string): string {
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem + extension) > MAX_BYTES) stem = [...stem].slice(0, -1).join('')
  return (stem + extension).replace(/[\s.]+$/, '')
}
