/** Losing fewer files than this never halts a mirror, unless they were all it had. */
const FEWEST_LOST = 20

/** Why a scan's removals look like a lost disk rather than like somebody's work (P12); undefined when they don't. */
export function lossReason(knownFiles: number, lostFiles: number): 'emptied' | 'more than half' | undefined {
  if (lostFiles === 0) return undefined
  if (lostFiles >= knownFiles) return 'emptied'
  return lostFiles >= FEWEST_LOST && lostFiles * 2 > knownFiles ? 'more than half' : undefined
}
