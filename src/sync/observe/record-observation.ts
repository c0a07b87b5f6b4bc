import { joinPath } from '../../foundation/files/paths.ts'
import type { SyncSummary } from '../../rules/run/sync-summary.ts'
import type { OpenMirror, StoreContext } from '../engine.ts'
import type { AlikePaths, DirectoryObservation, ObservationBatch, ObservedFile } from './observation.ts'

/** The state of a scan: the directories that the store has and that the walk has seen, and bounded lists of its findings. */
export interface ScanState {
  readonly knownDirectories: Map<string, number>
  readonly seenDirectories: Set<string>
  readonly unreadable: string[]
  readonly ignoredDirectories: Set<string>
  /** Digests that become true once the missing files are removed. */
  readonly laterDigests: Map<number, Uint8Array | null>
  secrets: number
  /** New files whose names look like others in their directory: their number, and two of them. */
  alike: AlikePaths | undefined
  /** The number of unsettled files, and of those among them that are new. */
  unsettledCount: number
  unsettledNewCount: number
  /** Files that are new or have another content, up to MAX_DIFFERING. */
  readonly differing: DifferingFile[]
}

export interface DifferingFile {
  readonly path: string
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** A scan that finds more is a first one, whose files nobody needs by name. */
const MAX_DIFFERING = 10_000

export function emptyScan(knownDirectories: Map<string, number>): ScanState {
  return {
    knownDirectories,
    seenDirectories: new Set(),
    unreadable: [],
    ignoredDirectories: new Set(),
    laterDigests: new Map(),
    secrets: 0,
    alike: undefined,
    unsettledCount: 0,
    unsettledNewCount: 0,
    differing: [],
  }
}

/** Writes one batch to the store and adds its counts to the summary; a batch without differences writes nothing. */
export function recordObservation(
  engine: StoreContext,
  mirror: OpenMirror,
  scan: ScanState,
  batch: ObservationBatch,
  summary: SyncSummary,
): void {
  const fresh = batch.directories.filter((path) => !scan.knownDirectories.has(path))
  for (const path of batch.directories) scan.seenDirectories.add(path)
  for (const path of batch.ignoredDirectories) scan.ignoredDirectories.add(path)
  scan.unreadable.push(...batch.unreadable)
  scan.secrets += batch.counts.secrets
  for (const alike of batch.alike)
    scan.alike = { ...(scan.alike ?? alike), count: (scan.alike?.count ?? 0) + alike.count }
  scan.unsettledCount += batch.unsettled.length
  scan.unsettledNewCount += batch.unsettled.filter(({ isKnown }) => !isKnown).length
  addCounts(summary, batch)
  if (fresh.length === 0 && batch.observations.length === 0) return
  engine.store.writeRelaxed(() => {
    for (const path of fresh) scan.knownDirectories.set(path, engine.store.directories.ensure(mirror.row.id, path))
    for (const observation of batch.observations) recordDirectory(engine, mirror, scan, observation, summary)
  })
}

function addCounts(summary: SyncSummary, { counts }: ObservationBatch): void {
  summary.files.unchanged += counts.unchanged
  summary.files.hashed += counts.hashed
  summary.files.ignored += counts.ignored
  summary.files.secrets += counts.secrets
  summary.files.unsupported += counts.unsupported
}

function recordDirectory(
  engine: StoreContext,
  mirror: OpenMirror,
  scan: ScanState,
  observation: DirectoryObservation,
  summary: SyncSummary,
): void {
  const directoryId = scan.knownDirectories.get(observation.path)
  if (directoryId === undefined)
    throw new Error(`The walk observed files of "${observation.path}" before its directory`)
  for (const file of observation.files) {
    const what = recordFile(engine, mirror, directoryId, observation.path, file)
    summary.files[what] += 1
    if (what !== 'unchanged' && scan.differing.length < MAX_DIFFERING) {
      const { name, mtimeNs, ctimeNs } = file
      scan.differing.push({ path: joinPath(observation.path, name), mtimeNs, ctimeNs })
    }
  }
  for (const { name, reason } of observation.missing) engine.store.files.markGone(directoryId, name, reason)
  const isSettled = observation.missing.length === 0
  engine.store.directories.setDigest(directoryId, isSettled ? observation.digest : null)
  if (!isSettled) scan.laterDigests.set(directoryId, observation.digest)
}

/** Records a hashed file; returns whether it is new, has another content, or the same one. */
function recordFile(
  { store, clock }: StoreContext,
  mirror: OpenMirror,
  directoryId: number,
  directory: string,
  file: ObservedFile,
): 'new' | 'changed' | 'unchanged' {
  const { sha256, mime, sizeBytes: size } = file
  const content = store.contents.ensure({ libraryId: mirror.row.library.id, sha256, mime, size })
  const before = file.isKnown ? store.files.find(directoryId, file.name) : undefined
  const isSame = before?.contentId === content.id
  if (before && !isSame) {
    const path = joinPath(directory, file.name)
    store.files.addHistory(mirror.row.id, path, before.contentId, 'changed', clock.nowMs())
  }
  if (!before && !content.isNew) store.files.addFresh(mirror.row.id, content.id)
  const { name, mtimeNs, ctimeNs, inode, isRacy } = file
  const isReceived = isSame && before.isReceived === 1
  store.files.record({ directoryId, name, size, mtimeNs, ctimeNs, inode, isRacy, contentId: content.id, isReceived })
  if (!before) return 'new'
  return isSame ? 'unchanged' : 'changed'
}

/** Writes the results of an examination; records nothing as missing, which only a complete scan can decide (P11). */
export function recordExamined(
  engine: StoreContext,
  mirror: OpenMirror,
  batch: ObservationBatch,
  summary: SyncSummary,
): void {
  const knownDirectories = new Map<string, number>()
  for (const path of [...batch.directories, ...batch.observations.map((observation) => observation.path)]) {
    const id = engine.store.directories.find(mirror.row.id, path)
    if (id !== undefined) knownDirectories.set(path, id)
  }
  const observations = batch.observations.map((observation) => ({
    ...observation,
    missing: [],
    digest: observation.missing.length > 0 ? null : observation.digest,
  }))
  recordObservation(engine, mirror, emptyScan(knownDirectories), { ...batch, observations }, summary)
}
