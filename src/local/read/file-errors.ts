import type { CodeOf } from '../../foundation/errors.ts'
import { FileError, messageOf, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'

const FAULTS: Readonly<Record<string, readonly [CodeOf<'file'>, string]>> = {
  ENOENT: ['vanished', 'it is gone'],
  ENOTDIR: ['vanished', 'a directory on the way to it is gone'],
  EACCES: ['unreadable', 'permission denied'],
  EPERM: ['unreadable', 'permission denied'],
  ELOOP: ['unsupported', 'it is a symbolic link'],
  ENXIO: ['unsupported', 'it is not a regular file'],
  EISDIR: ['unsupported', 'it is a directory'],
  EBUSY: ['busy', 'another program holds it'],
  EAGAIN: ['busy', 'another program holds it'],
}

/** Too few descriptors: not the file's fault, the caller slows down and tries again. */
const NOT_OF_THE_FILE = new Set(['EMFILE', 'ENFILE'])

/** True when this process, or the system, has no file descriptor left. */
export function isOutOfDescriptors(thrown: unknown): boolean {
  return NOT_OF_THE_FILE.has(systemCodeOf(thrown) ?? '')
}

/** What was thrown while reading a file, as the FileError it means; what does not belong to the file stays as it is. */
export function asFileError(thrown: unknown, relativePath: string): unknown {
  const systemCode = systemCodeOf(thrown)
  if (systemCode === undefined || thrown instanceof FileError || isOutOfDescriptors(thrown)) return thrown
  const [code, reason] = FAULTS[systemCode] ?? ['io-error', messageOf(thrown)]
  return fileError(code, relativePath, reason, { cause: thrown })
}

/** A FileError with the message that all of them share. */
export function fileError(
  code: CodeOf<'file'>,
  relativePath: string,
  reason: string,
  options?: ErrorOptions,
): FileError {
  return new FileError(code, `Cannot read "${escapeText(relativePath)}": ${reason}`, options)
}

/** What is said of a file for which no descriptor was left. */
export function noDescriptorFree(relativePath: string): FileError {
  return fileError('busy', relativePath, 'this process has too many files open; it is tried again by the next scan')
}

/** The system's code, or that of a FileError, and a message for people; throws again what is no fault of a file. */
export function faultOf(thrown: unknown, relativePath: string): { code: string; message: string } {
  const code = systemCodeOf(thrown)
  if (code === undefined) throw thrown
  return { code, message: messageOf(asFileError(thrown, relativePath)) }
}
