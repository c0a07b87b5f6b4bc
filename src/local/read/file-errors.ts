import { type CodeOf, FileError, messageOf, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'

const FAULTS: Readonly<Record<string, readonly [CodeOf<'file'>, string]>> = {
  ENOENT: ['vanished', 'it is gone'],
  ENOTDIR: ['vanished', 'a directory above it is gone'],
  EACCES: ['unreadable', 'permission denied'],
  EPERM: ['unreadable', 'permission denied'],
  ELOOP: ['unsupported', 'it is a symbolic link'],
  ENXIO: ['unsupported', 'it is not a regular file'],
  EISDIR: ['unsupported', 'it is a directory'],
  EBUSY: ['busy', 'another program holds it'],
  EAGAIN: ['busy', 'another program holds it'],
  ETIMEDOUT: ['io-error', 'it does not answer: a network mount may be dead'],
}

/** The error of a call that a file system did not answer in time; the kernel has the same for some file systems of networks. */
export function noAnswer(name: string, args: readonly unknown[]): NodeJS.ErrnoException {
  const [path] = args
  const where = typeof path === 'string' ? ` '${path}'` : ''
  return Object.assign(new Error(`ETIMEDOUT: no answer, ${name.replace(/Sync$/, '')}${where}`), { code: 'ETIMEDOUT' })
}

/** The process or the system has no free descriptor, which is no problem of the file: the caller retries. */
const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])

/** Returns whether an operation failed since this process, or the system, has no free file descriptor. */
export function isOutOfDescriptors(thrown: unknown): boolean {
  return OUT_OF_DESCRIPTORS.has(systemCodeOf(thrown) ?? '')
}

/** Converts a system error of reading a file into a FileError; returns any other error, and EMFILE and ENFILE, unchanged. */
export function asFileError(thrown: unknown, relativePath: string): unknown {
  const systemCode = systemCodeOf(thrown)
  if (systemCode === undefined || thrown instanceof FileError || isOutOfDescriptors(thrown)) return thrown
  const [code, reason] = FAULTS[systemCode] ?? ['io-error', withoutPath(thrown)]
  return fileError(code, relativePath, reason, { cause: thrown })
}

/** The system's message, which names the path by which the file was opened. */
function withoutPath(thrown: unknown): string {
  const path = thrown instanceof Error && 'path' in thrown ? ` '${thrown.path}'` : ''
  return messageOf(thrown).replace(path, '')
}

/** A FileError whose message names the path and the reason. */
export function fileError(
  code: CodeOf<'file'>,
  relativePath: string,
  reason: string,
  options?: ErrorOptions,
): FileError {
  return new FileError(code, `Cannot read "${escapeText(relativePath)}": ${reason}`, options)
}

/** The problem of a file that could not be opened for lack of a file descriptor. */
export function noDescriptorFree(relativePath: string): FileError {
  return fileError('io-error', relativePath, 'this process has too many files open; the next scan tries it again')
}

/** The code of a system error or FileError, and a message for people; rethrows any other error. */
export function fileProblemOf(thrown: unknown, relativePath: string): { code: string; message: string } {
  const code = systemCodeOf(thrown)
  if (code === undefined) throw thrown
  return { code, message: messageOf(asFileError(thrown, relativePath)) }
}
