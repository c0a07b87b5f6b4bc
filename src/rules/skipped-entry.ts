/** Why an entry of a directory that no ignore rule matches is not a file to be sent. */
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
  /** Of `too-large`: the file's size and the limit. */
  readonly detail?: string
}

/** A reason that somebody must resolve, as a problem of its path; `isUnsupported`: it can never be sent as it is. */
export interface SkipProblem {
  readonly code: 'over-max-size' | 'unsupported' | 'name-not-utf8'
  readonly message: string
  readonly isUnsupported: boolean
}

const NO_FILES: Readonly<Partial<Record<SkipReason, string>>> = {
  socket: 'a socket',
  pipe: 'a pipe',
  device: 'a device',
}

const LEFT_OUT: Readonly<Partial<Record<SkipReason, string>>> = {
  symlink: 'a symbolic link, which is not followed',
  'other-file-system': 'on another file system',
  empty: 'empty',
}

/** The problem that a skipped entry is; undefined when it is left out on purpose, as symbolic links are. */
export function skipProblem({ reason, detail }: Skipped): SkipProblem | undefined {
  const noFile = NO_FILES[reason]
  if (noFile !== undefined) {
    const message = `${noFile}, which can't be sent; leave it out with an ignore rule`
    return { code: 'unsupported', message, isUnsupported: true }
  }
  if (reason === 'name-not-utf8') {
    return { code: reason, message: 'its name is not UTF-8; rename it', isUnsupported: true }
  }
  if (reason !== 'too-large') return undefined
  const sizes = detail === undefined ? '' : ` (${detail})`
  const message = `larger than maxSize${sizes}; raise maxSize, or leave it out with an ignore rule`
  return { code: 'over-max-size', message, isUnsupported: false }
}

/** The reason in words. */
export function describeSkipped(entry: Skipped): string {
  return skipProblem(entry)?.message ?? LEFT_OUT[entry.reason] ?? entry.reason
}
