/** A mirror that loses fewer files is halted only if they were all it had. */
const MIN_LOST = 20
/** A mirror with fewer files may lose all of them without a halt, unless other files took their place. */
const MIN_EMPTIED = 5

/** Files that a rule leaves out now are not counted. */
export interface Loss {
  readonly known: number
  readonly found: number
  readonly lost: number
  /** The user has accepted another directory, which has other files. */
  readonly isRootAccepted?: boolean
}

/** `replaced`: all known files are gone, and there are new ones. */
export type LossReason = 'emptied' | 'replaced' | 'more than half'

/** Returns why the removals look like a lost disk rather than a user's work (P12, mass loss); undefined when they don't. */
export function lossReason(files: Loss): LossReason | undefined {
  const { known, found, lost, isRootAccepted = false } = files
  if (lost === 0) return undefined
  if (found === 0 && known >= MIN_EMPTIED) return 'emptied'
  if (found > 0 && lost >= known && !isRootAccepted) return 'replaced'
  return lost >= MIN_LOST && lost * 2 > known ? 'more than half' : undefined
}

/** `unread` new files may be the lost ones under new names. */
export function mayHaveMoved(files: Loss, unread: number): boolean {
  const atWorst = lossReason(files)
  return atWorst !== undefined && lossReason({ ...files, lost: Math.max(0, files.lost - unread) }) === undefined
}
