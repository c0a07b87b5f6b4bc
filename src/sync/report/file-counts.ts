import type { FileTally } from '../../store/tables/report-rows.ts'

/** Files by state, from the store alone. */
export interface FileCounts {
  readonly known: number
  readonly searchable: number
  /** Stored without searchable text; none of them is `searchable`. */
  readonly withoutText: number
  readonly inIngestion: number
  readonly toSend: number
  readonly sending: number
  readonly inDoubt: number
  readonly needAttention: number
  /** Failed, and were set aside by `failed ignore`. */
  readonly setAside: number
}

export const NO_FILES: FileCounts = {
  known: 0,
  searchable: 0,
  withoutText: 0,
  inIngestion: 0,
  toSend: 0,
  sending: 0,
  inDoubt: 0,
  needAttention: 0,
  setAside: 0,
}

/** Adds up files by state. `isLocked`: a process writes to the store, so that what the store calls `sending` is in flight. */
export function countFiles(tallies: readonly FileTally[], isLocked: boolean): FileCounts {
  const counts = { ...NO_FILES }
  for (const tally of tallies) {
    counts.known += tally.files
    const key = keyOf(tally, isLocked)
    const withoutText = key === 'searchable' ? tally.withoutText : 0
    counts[key] += tally.files - withoutText
    counts.withoutText += withoutText
  }
  return counts
}

function keyOf({ state, outcome, isSetAside, hasProblem }: FileTally, isLocked: boolean): keyof FileCounts {
  if (state === 'new') return 'toSend'
  if (state === 'sending' && isLocked) return 'sending'
  if (state === 'sending' || (state === 'doubt' && hasProblem === 0)) return 'inDoubt'
  if (outcome === 'searchable') return 'searchable'
  if (outcome === 'pending') return 'inIngestion'
  return isSetAside === 1 ? 'setAside' : 'needAttention'
}
