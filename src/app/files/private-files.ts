import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FileError, messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { findIntruder, findReader, type Intruder, type Ownership, ownUid } from '../../foundation/files/ownership.ts'
import { makeDirectories } from '../../foundation/files/private-directory.ts'
import { syncDirectory, writeNewFile } from '../../foundation/files/replace-file.ts'
import { holdDirectory } from '../../foundation/files/trusted-path.ts'
import { isLinkUnsupported, unfinishedIn } from '../../foundation/files/unfinished-file.ts'
import { decodeText, READABLE_TEXT } from '../../foundation/text/decode-text.ts'
import { isThere, nearestDirectory } from './paths-on-disk.ts'

export interface TextFile {
  readonly text: string
  /** Ownership of the file itself, also if it was read through a link. */
  readonly ownership: Ownership
  readonly directory: Ownership
  /** How messages name a text that was not read from a file. */
  readonly origin?: string
}

export type ReadTextFile = (file: string) => TextFile | undefined

// O_NONBLOCK keeps a named pipe from blocking `open`. Windows has neither such pipes nor the flag.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads a file in UTF-8, or in UTF-16 with a byte order mark. Throws UsageError('bad-configuration') for another encoding. */
export const readTextFile: ReadTextFile = (file) =>
  readFile(file, (bytes) => {
    const text = decodeText(bytes)
    if (text === undefined) throw new UsageError('bad-configuration', `Cannot use "${file}": ${READABLE_TEXT}`)
    return text
  })

/** Reads a PEM file. Around its certificates it may have text in any encoding, so a file not in UTF-8 is read as Latin-1. */
export const readPemFile: ReadTextFile = (file) =>
  readFile(file, (bytes) => decodeText(bytes) ?? bytes.toString('latin1'))

function readFile(file: string, decode: (bytes: Buffer) => string): TextFile | undefined {
  try {
    const descriptor = openSync(file, READ)
    try {
      const ownership = fstatSync(descriptor)
      // Reading a pipe would wait for a writer, perhaps forever.
      if (ownership.isFIFO()) throw notAFile(file)
      return { text: decode(readFileSync(descriptor)), ownership, directory: statSync(dirname(file)) }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw code === 'ENXIO' ? notAFile(file) : error
  }
}

/** Returns a function that reads each file only once, so that all its callers see the same version. */
export function createCachingReader(): ReadTextFile {
  const files = new Map<string, TextFile | undefined>()
  return (file) => {
    if (!files.has(file)) files.set(file, readTextFile(file))
    return files.get(file)
  }
}

export function readRequired(file: string, unusable: (why: string) => Error, read = readTextFile): TextFile {
  let found: TextFile | undefined
  try {
    found = read(file)
  } catch (error) {
    throw error instanceof UsageError ? error : unusable(messageOf(error))
  }
  if (found) return found
  throw unusable('there is no such file')
}

export function ownershipOf(path: string): Ownership | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

/** Throws UsageError if other users can change the file, because it decides what runs and what is sent. */
export function assertTrusted(file: string, { ownership, directory }: TextFile): void {
  refuse(file, 'its settings decide what runs and what is sent', findIntruder(file, ownership, { owners: 'root' }))
  const parent = dirname(file)
  const intruder = findIntruder(parent, directory, { owners: 'root', mayBeSticky: true })
  refuse(file, 'its directory decides which file is read', intruder)
}

/** Throws UsageError if other users can read or change the file, which holds a secret. */
export function assertPrivate(file: string, { ownership }: TextFile): void {
  const intruder = findReader(file, ownership) ?? findIntruder(file, ownership, { owners: 'root' })
  refuse(file, 'it holds a secret', intruder)
}

function refuse(file: string, reason: string, intruder: Intruder | undefined): void {
  if (intruder === undefined) return
  throw new UsageError('insecure-file', `Cannot use "${file}": ${reason}, and ${intruder.why}; run: ${intruder.fix}`)
}

function notAFile(file: string): UsageError {
  return new UsageError('insecure-file', `Cannot use "${file}": it is a pipe or a socket, not a regular file`)
}

export function writePrivateFile(file: string, text: string): void {
  rewrite(file, text, readTextFile(file)?.text, true)
}

/**
 * Replaces or creates a file that users edit as well. Links, owner and mode stay. `textBefore`: its text when it was read; undefined if
 * it did not exist. Throws FileError('io-error'), also if the file has changed since then.
 */
export function rewriteFile(file: string, text: string, textBefore: string | undefined): void {
  rewrite(file, text, textBefore, false)
}

function rewrite(file: string, text: string, textBefore: string | undefined, isPrivate: boolean): void {
  try {
    makeDirectories(dirname(file))
    const found = isPrivate ? undefined : statSync(file, { throwIfNoEntry: false })
    const target = found ? realpathSync(file) : file
    using directory = holdDirectory(dirname(target))
    const place = directory.at(basename(target))
    const isFree = lstatSync(place, { throwIfNoEntry: false }) === undefined
    const unfinished = unfinishedIn(directory)
    try {
      writeNewFile(unfinished, text, found ? found.mode & 0o777 : 0o600)
      if (found && ownUid() === 0) chownSync(unfinished, found.uid, found.gid)
      if (readTextFile(place)?.text !== textBefore) throw new FileError('io-error', changedMeanwhile(file))
      if (isFree) linkIntoPlace(unfinished, place)
      else renameSync(unfinished, place)
      syncDirectory(directory.at('.'))
    } finally {
      rmSync(unfinished, { force: true })
    }
  } catch (error) {
    if (error instanceof FileError) throw error
    const why =
      systemCodeOf(error) === 'EEXIST' ? changedMeanwhile(file) : `Cannot write "${file}": ${messageOf(error)}`
    throw new FileError('io-error', why)
  }
}

function linkIntoPlace(unfinished: string, place: string): void {
  try {
    linkSync(unfinished, place)
  } catch (error) {
    if (!isLinkUnsupported(error)) throw error
    copyFileSync(unfinished, place, constants.COPYFILE_EXCL)
  }
}

function changedMeanwhile(file: string): string {
  return `Cannot write "${file}": another program has changed it meanwhile; nothing was written, so run this again`
}

/** Throws FileError('io-error') if `rewriteFile` could not write the file. */
export function assertRewritable(file: string): void {
  try {
    accessSync(nearestDirectory(dirname(isThere(file) ? realpathSync(file) : file)), constants.W_OK)
  } catch (error) {
    const text = `Cannot write "${file}": its directory is not writable for shelfd (${systemCodeOf(error)})`
    throw new FileError('io-error', `${text}; edit the file yourself as a user who may write there`)
  }
}

/** A private file or directory that other users can read or change. */
interface ExposedFile extends Intruder {
  readonly path: string
}

export function listExposed(directory: string): ExposedFile[] {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return []
  const files = readdirSync(directory).flatMap((name) => exposedFile(join(directory, name)) ?? [])
  const reader = findReader(directory, found, { isDirectory: true })
  // If no other user can enter the directory, the modes of its files don't matter.
  return reader ? [{ ...reader, path: directory }, ...files] : []
}

function exposedFile(path: string): ExposedFile | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return undefined
  const intruder = findReader(path, found) ?? findIntruder(path, found)
  return intruder && { ...intruder, path }
}
