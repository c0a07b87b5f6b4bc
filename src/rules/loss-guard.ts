/** A mirror that loses fewer files than this is halted only if they were all it had. */
const FEWEST_LOST = 20
/** A mirror of fewer files than this may lose all of them, unless other files have replaced them. */
const FEWEST_EMPTIED = 5

/** Numbers of files. Those that a rule leaves out now are still on disk and are not counted. */
export interface Loss {
  readonly known: number
  readonly found: number
  readonly lost: number
  /** The user has accepted another directory, which has other files. */
  readonly isRootAccepted?: boolean
}

/** `replaced`: nothing of what was known is there, and new files are. */
export type LossReason = 'emptied' | 'replaced' | 'more than half'

/** Returns why a scan's removals look like a lost disk rather than a user's work (P12); undefined when they don't. */
export function lossReason(files: Loss): LossReason | undefined {
  const { known, found, lost, isRootAccepted = false } = files
  if (lost === 0) return undefined
  if (found === 0 && known >= FEWEST_EMPTIED) return 'emptied'
  if (found > 0 && lost >= known && !isRootAccepted) return 'replaced'
  return lost >= FEWEST_LOST && lost * 2 > known ? 'more than half' : undefined
}

/** Returns whether `unread` new files are enough that the lost ones may be among them under new names. */
export function mayHaveMoved(files: Loss, unread: number): boolean {
  const atWorst = lossReason(files)
  return atWorst !== undefined && lossReason({ ...files, lost: Math.max(0, files.lost - unread) }) === undefined
}
