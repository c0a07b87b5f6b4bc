import type { Clock } from '../../foundation/clock.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { quarantineDurationMs } from '../../rules/retry-delay.ts'
import type { Store, StoreReader } from '../../store/open-store.ts'
import type { QuarantineRow } from '../../store/tables/problems.ts'
import type { MirrorPath } from '../../store/tables/sent-resources.ts'

/** A failed content that a file still has. Times are in ISO 8601. */
export interface Quarantined {
  readonly contentId: number
  readonly sha256: string
  readonly mime: string
  readonly sizeBytes: number
  /** What failed. After a failed upload, `resourceId` is null. */
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
  readonly root: string
  readonly path: string
}

/** Returns when the content is due again (wall clock). The time grows with each failure. */
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

export interface FailedPath extends QuarantinedFile, PathProblem {
  readonly tries: number
  readonly since: string
  readonly isSetAside: boolean
}

/** Returns the problems of paths in all mirrors, ordered by mirror and path. */
export function listFailedPaths(store: StoreReader): FailedPath[] {
  return store.mirrors.list().flatMap(({ id, name: mirror, path: root }) =>
    store.problems.list(id).map(({ path, code, message, count: tries, firstAt, isSetAside }) => {
      return { mirror, root, path, code, message, tries, since: isoTime(firstAt), isSetAside: isSetAside === 1 }
    }),
  )
}

export interface Failures {
  readonly contentIds: readonly number[]
  readonly paths: readonly MirrorPath[]
}

/** Makes failed contents due now, and no longer sets paths aside. Returns how many contents and paths this changed. */
export function retryFailures(store: Store, failures: Failures): number {
  return change(store, failures, { kind: 'retry', make: store.quarantine.makeDue, isSetAside: false })
}

/** Sets failures aside: no run fails for them, or tries these contents again. Returns how many were not set aside before. */
export function setFailuresAside(store: Store, failures: Failures): number {
  return change(store, failures, { kind: 'ignored', make: store.quarantine.setAside, isSetAside: true })
}

interface Change {
  readonly kind: string
  readonly make: (contentId: number) => boolean
  readonly isSetAside: boolean
}

/** Applies a decision of the user, and records it so that the ledger gets it with the next batch. Returns how many it changed. */
function change(store: Store, { contentIds, paths }: Failures, { kind, make, isSetAside }: Change): number {
  return store.write(() => {
    const changed = contentIds.filter(make)
    for (const id of changed) store.settlements.addDecided(id, kind)
    return changed.length + paths.filter(({ mirror, path }) => store.problems.setAside(mirror, path, isSetAside)).length
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
