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

/** The kernel reports the same for some network file systems. */
export function noAnswer(name: string, args: readonly unknown[]): NodeJS.ErrnoException {
  const [path] = args
  const where = typeof path === 'string' ? ` '${path}'` : ''
  return Object.assign(new Error(`ETIMEDOUT: no answer, ${name.replace(/Sync$/, '')}${where}`), { code: 'ETIMEDOUT' })
}

/** Not a problem of the file: the caller retries. */
const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])

export function isOutOfDescriptors(thrown: unknown): boolean {
  return OUT_OF_DESCRIPTORS.has(systemCodeOf(thrown) ?? '')
}

/** Returns any other error, and EMFILE and ENFILE, unchanged. */
export function asFileError(thrown: unknown, relativePath: string): unknown {
  const systemCode = systemCodeOf(thrown)
  if (systemCode === undefined || thrown instanceof FileError || isOutOfDescriptors(thrown)) return thrown
  const [code, reason] = FAULTS[systemCode] ?? ['io-error', withoutPath(thrown)]
  return fileError(code, relativePath, reason, { cause: thrown })
}

/** The system's message names the path by which the file was opened. */
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
