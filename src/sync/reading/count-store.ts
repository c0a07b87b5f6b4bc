import type { IngestionOutcome } from '../../contract/states.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { type MirrorStatus, readStatus } from '../report/status.ts'

/** Counts of one mirror in the store. */
export interface MirrorCounts extends Pick<MirrorStatus, 'name' | 'files' | 'queue' | 'directoriesToMake'> {
  /** Paths and contents by the code of their problem. */
  readonly problems: ReadonlyMap<string, number>
  /** Contents whose upload arrived, by the outcome of their ingestion. */
  readonly outcomes: Readonly<Record<IngestionOutcome, number>>
}

/** Counts the whole store, which takes seconds for a million files. */
export function countStore(store: StoreReader): MirrorCounts[] {
  const ids = new Map(store.mirrors.list().map(({ name, id }) => [name, id]))
  return readStatus(store).map(({ name, files, queue, directoriesToMake, problems }) => {
    const outcomes = countOutcomes(store, ids.get(name) ?? 0)
    return { name, files, queue, directoriesToMake, problems: countCodes(problems), outcomes }
  })
}

function countOutcomes(store: StoreReader, mirrorId: number): MirrorCounts['outcomes'] {
  const outcomes = { pending: 0, searchable: 0, partial: 0, failed: 0, unknown: 0 }
  for (const { outcome, contents } of store.report.tallyStates(mirrorId)) {
    if (outcome !== null) outcomes[outcome] += contents
  }
  return outcomes
}

function countCodes(problems: MirrorStatus['problems']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { code } of problems) counts.set(code, (counts.get(code) ?? 0) + 1)
  return counts
}
