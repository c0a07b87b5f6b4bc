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

/** A problem that the user must resolve; `isUnsupported`: no setting makes the entry uploadable. */
export interface SkipProblem {
  readonly code: 'over-max-size' | 'unsupported' | 'name-not-utf8'
  readonly message: string
  readonly isUnsupported: boolean
}

const WORDS: Readonly<Record<SkipReason, string>> = {
  symlink: 'a symbolic link, which shelfd does not follow',
  socket: 'a socket',
  pipe: 'a pipe',
  device: 'a device',
  'other-file-system': 'on another file system',
  'too-large': 'larger than maxSize',
  empty: 'empty',
  'name-not-utf8': 'its name is not UTF-8',
}

/** The problem of a skipped entry; undefined when it is skipped on purpose, like a symbolic link. */
export function skipProblem({ reason, detail }: Skipped): SkipProblem | undefined {
  const what = WORDS[reason]
  switch (reason) {
    case 'socket':
    case 'pipe':
    case 'device': {
      const message = `${what}, which can't be sent; leave it out with an ignore rule`
      return { code: 'unsupported', message, isUnsupported: true }
    }
    case 'name-not-utf8':
      return { code: reason, message: `${what}; rename it`, isUnsupported: true }
    case 'too-large': {
      const sizes = detail === undefined ? '' : ` (${detail})`
      const message = `${what}${sizes}; raise maxSize, or leave it out with an ignore rule`
      return { code: 'over-max-size', message, isUnsupported: false }
    }
    default:
      return undefined
  }
}

/** The reason in words. */
export function describeSkipped(entry: Skipped): string {
  return skipProblem(entry)?.message ?? WORDS[entry.reason]
}
