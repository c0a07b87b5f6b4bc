import type { Clock } from '../foundation/clock.ts'
import { isoTime } from '../foundation/text/times.ts'
import { quarantineDurationMs } from '../rules/retry-delay.ts'
import type { Store, StoreReader } from '../store/open-store.ts'
import type { QuarantineRow } from '../store/tables/problems.ts'

/** One content that failed, with every file that has it; times in ISO 8601. */
export interface Quarantined {
  readonly contentId: number
  readonly sha256: string
  readonly mime: string
  readonly sizeBytes: number
  /** What failed: after a failed ingestion the resource is known, after a failed upload it is not. */
  readonly stage: 'upload' | 'ingestion'
  readonly resourceId: string | null
  readonly code: string
  readonly message: string
  readonly tries: number
  readonly since: string | null
  /** When it is tried again; null: never. */
  readonly retryAt: string | null
  readonly isSetAside: boolean
  readonly files: readonly QuarantinedFile[]
}

export interface QuarantinedFile {
  readonly mirror: string
  /** The mirror's directory. */
  readonly root: string
  /** Relative to `root`. */
  readonly path: string
}

/** Returns when a content that fails with `code` now is due again (wall clock): later after each earlier failure. */
export function quarantineUntil(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  contentId: number,
  code: string,
): number {
  return clock.nowMs() + quarantineDurationMs(store.contents.getUploadState(contentId).failedTries, code)
}

/** Returns every failed content that a file still has, ordered by the mirror and path of its first file. */
export function listQuarantine(store: StoreReader): Quarantined[] {
  const rows = Map.groupBy(store.quarantine.list(), ({ contentId }) => contentId)
  return [...rows.values()].flatMap(([first, ...others]) => (first ? [toQuarantined(first, others)] : []))
}

/** Makes failed contents due now, so that the next run tries them. Returns how many of them were failed. */
export function retryContents(store: Store, contentIds: readonly number[]): number {
  return change(store, contentIds, 'retry', store.quarantine.makeDue)
}

/** Sets failed contents aside: no run tries them again or fails for them. Returns how many were not set aside before. */
export function setContentsAside(store: Store, contentIds: readonly number[]): number {
  return change(store, contentIds, 'ignored', store.quarantine.setAside)
}

/** The hosts of a fleet learn of it with the next batch that this one settles. */
function change(store: Store, contentIds: readonly number[], kind: string, make: (id: number) => boolean): number {
  return store.write(() => {
    const changed = contentIds.filter(make)
    for (const id of changed) store.settlements.tell(id, kind)
    return changed.length
  })
}

function toQuarantined(row: QuarantineRow, others: readonly QuarantineRow[]): Quarantined {
  const { contentId, mime, resourceId, code, tries } = row
  const isSetAside = row.isSetAside === 1
  return {
    contentId,
    sha256: row.sha256.toString('hex'),
    mime,
    sizeBytes: row.size,
    stage: row.state === 'stored' ? 'ingestion' : 'upload',
    resourceId,
    code,
    message: row.message ?? code,
    tries,
    since: isoTime(row.since),
    retryAt: isSetAside ? null : isoTime(row.retryAt),
    isSetAside,
    files: [row, ...others].map(({ mirror, mirrorPath: root, path }) => ({ mirror, root, path })),
  }
}
