import { fileErrorCodes } from '../foundation/errors.ts'

/** Why the program does not upload an entry that no ignore rule matches. */
export type SkipReason =
  | 'symlink'
  | 'socket'
  | 'pipe'
  | 'device'
  | 'other-file-system'
  | 'too-large'
  | 'empty'
  | 'name-not-utf8'

interface Skipped {
  readonly reason: SkipReason
  /** For `too-large`: the file's size and the limit. */
  readonly detail?: string
}

interface SkipProblem {
  readonly code: 'over-max-size' | 'name-not-utf8'
  readonly message: string
}

const WORDS: Readonly<Record<SkipReason, string>> = {
  symlink: 'a symbolic link, which shelfd does not follow',
  socket: 'a socket, which is never sent',
  pipe: 'a pipe, which is never sent',
  device: 'a device, which is never sent',
  'other-file-system': 'on another file system',
  'too-large': 'larger than maxSize',
  empty: 'empty',
  'name-not-utf8': 'its name is not UTF-8',
}

/** Returns the kind of a skipped entry for the report. */
export function kindOfSkipped({ reason }: Skipped): 'ignored' | 'unsupported' {
  return reason === 'socket' || reason === 'pipe' || reason === 'device' ? 'unsupported' : 'ignored'
}

/** Returns undefined for an entry that is not a file, or that is left out on purpose. */
export function skipProblem({ reason, detail }: Skipped): SkipProblem | undefined {
  const what = WORDS[reason]
  switch (reason) {
    case 'name-not-utf8':
      return { code: reason, message: `${what}; rename it` }
    case 'too-large': {
      const sizes = detail === undefined ? '' : ` (${detail})`
      const message = `${what}${sizes}; raise maxSize, or leave it out with an ignore rule`
      return { code: 'over-max-size', message }
    }
    default:
      return undefined
  }
}

export function describeSkipped(entry: Skipped): string {
  return skipProblem(entry)?.message ?? WORDS[entry.reason]
}

const CHANGED: ReadonlySet<string> = new Set(['busy', 'vanished'])

/** Returns whether the file changed or vanished after its scan, so that it is read again. */
export function hasChangedUnderWay(code: string): boolean {
  return CHANGED.has(code)
}

/** The next run may solve these by itself: the file was changing, or the service was away or busy. */
const PASSING: ReadonlySet<string> = new Set([
  'busy',
  'vanished',
  'upload-in-doubt',
  'connection-closed',
  'service-unreachable',
  'service-unavailable',
  'service-full',
  'service-throttling',
  'answer-late',
])

/**
 * Returns whether reading a file failed in a way that lasts until a user changes something; only such problems can be set aside. Scans
 * still try to read a path that was set aside, and the file is sent once that succeeds.
 */
export function canBeSetAside(code: string): boolean {
  return fileErrorCodes.has(code) && !hasChangedUnderWay(code)
}

/** Printed below problems that need a person. */
export const HOW_TO_SET_ASIDE = 'Runs exit 1 until each problem is solved or set aside: shelfd failed ignore PATH'

export function needsPerson(code: string): boolean {
  return !PASSING.has(code)
}
