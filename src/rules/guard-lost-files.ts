/** A mirror that loses fewer files is halted only if they were all it had. */
const MIN_LOST = 20
/** A mirror with fewer files may lose all of them without a halt, unless other files took their place. */
const MIN_EMPTIED = 5

/** Numbers of files. Files that a rule leaves out now are not counted. */
export interface Loss {
  /** In the store before the scan. */
  readonly stored: number
  readonly found: number
  readonly lost: number
  /** The user has accepted another directory for the mirror, so other files are expected. */
  readonly isRootAccepted?: boolean
}

/** `replaced`: all files of the store are gone, and there are others. */
export type LossReason = 'emptied' | 'replaced' | 'more than half'

/** Returns why the removals look like a lost disk rather than a user's work (P12, mass loss); undefined if they don't. */
export function lossReason(files: Loss): LossReason | undefined {
  const { stored, found, lost, isRootAccepted = false } = files
  if (lost === 0) return undefined
  if (found === 0 && stored >= MIN_EMPTIED) return 'emptied'
  if (found > 0 && lost >= stored && !isRootAccepted) return 'replaced'
  return lost >= MIN_LOST && lost * 2 > stored ? 'more than half' : undefined
}

/** Returns whether the loss is a reason to halt only if none of `unread` new files is a lost one under a new name. */
export function mayHaveMoved(files: Loss, unread: number): boolean {
  const atWorst = lossReason(files)
  return atWorst !== undefined && lossReason({ ...files, lost: Math.max(0, files.lost - unread) }) === undefined
}
