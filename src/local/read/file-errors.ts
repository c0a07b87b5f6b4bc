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

/** Returns the error that the kernel reports when some network file systems do not answer. */
export function noAnswer(name: string, args: readonly unknown[]): NodeJS.ErrnoException {
  const [path] = args
  const where = typeof path === 'string' ? ` '${path}'` : ''
  return Object.assign(new Error(`ETIMEDOUT: no answer, ${name.replace(/Sync$/, '')}${where}`), { code: 'ETIMEDOUT' })
}

/** These codes say nothing about the file, so the caller retries. */
const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])

export function isOutOfDescriptors(thrown: unknown): boolean {
  return OUT_OF_DESCRIPTORS.has(systemCodeOf(thrown) ?? '')
}

/** Returns a FileError for an error of the system; EMFILE, ENFILE and all other errors are returned unchanged. */
export function asFileError(thrown: unknown, relativePath: string): unknown {
  const systemCode = systemCodeOf(thrown)
  if (systemCode === undefined || thrown instanceof FileError || isOutOfDescriptors(thrown)) return thrown
  const [code, reason] = FAULTS[systemCode] ?? ['io-error', withoutPath(thrown)]
  return fileError(code, relativePath, reason, { cause: thrown })
}

/** Removes the path from the system's message, because that may lead through a descriptor (/proc/self/fd). */
function withoutPath(thrown: unknown): string {
  const path = thrown instanceof Error && 'path' in thrown ? ` '${thrown.path}'` : ''
  return messageOf(thrown).replace(path, '')
}

export function fileError(
  code: CodeOf<'file'>,
  relativePath: string,
  reason: string,
  options?: ErrorOptions,
): FileError {
  return new FileError(code, `Cannot read "${escapeText(relativePath)}": ${reason}`, options)
}

export function noDescriptorFree(relativePath: string): FileError {
  return fileError('io-error', relativePath, 'this process has too many files open; the next scan tries it again')
}

export function fileProblemOf(thrown: unknown, relativePath: string): { code: string; message: string } {
  const code = systemCodeOf(thrown)
  if (code === undefined) throw thrown
  return { code, message: messageOf(asFileError(thrown, relativePath)) }
}
