import { joinPath, parentOf } from '../../foundation/files/paths.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { groupByDirectory } from '../observe/examine-entries.ts'
import type {
  DirectoryObservation,
  Examiner,
  ExamineWork,
  ObservationBatch,
  PathProblem,
} from '../observe/observation.ts'
import { recordExamined } from '../observe/record-observation.ts'
import type { MirrorWatch } from './mirror-watch.ts'

export interface Examination {
  readonly engine: Engine & Engine
  readonly mirror: OpenMirror
  readonly watch: MirrorWatch
  readonly examiner: Examiner
  readonly summary: SyncSummary
}

export interface Examined {
  readonly problems: readonly PathProblem[]
  /** A known path is gone, replaced or unreadable, or too much is new: a scan must find out what happened. */
  readonly needsScan: boolean
  /** The examination recorded something in the store. */
  readonly hasDifferences: boolean
}

/** The most rounds of reading directories that appeared while others were read; after them, a scan is needed. */
const MOST_ROUNDS = 8

/** Examines paths that may have changed, relative to the root, and records the differences in the store. */
export async function examineHints(examination: Examination, paths: readonly string[]): Promise<Examined> {
  const problems: PathProblem[] = []
  const root = examination.mirror.root.place
  let needsScan = false
  let hasDifferences = false
  const take = (batch: ObservationBatch) => {
    problems.push(...batch.problems)
    if (mustScan(examination, batch)) needsScan = true
    if (batch.observations.length > 0 || batch.directories.length > 0) hasDifferences = true
  }
  const trees: string[] = []
  const { engine, mirror } = examination
  const entries = groupByDirectory(engine.store, mirror.row.id, paths)
  for await (const batch of examine(examination, { kind: 'entries', entries, root })) {
    take(batch)
    trees.push(...batch.trees)
  }
  let fresh = examination.watch.add(trees)
  for (let round = 1, left = trees; left.length > 0; round += 1, left = topmost(fresh)) {
    if (round > MOST_ROUNDS) return { problems, needsScan: true, hasDifferences }
    fresh = []
    for await (const batch of examine(examination, { kind: 'trees', paths: left, root })) {
      take(batch)
      // A directory that was read before it was watched is read again.
      fresh = [...fresh, ...examination.watch.add(batch.directories)]
    }
  }
  return { problems, needsScan, hasDifferences }
}

async function* examine(examination: Examination, work: ExamineWork): AsyncGenerator<ObservationBatch> {
  const { engine, mirror, examiner, summary, watch } = examination
  for await (const read of examiner.examine(work, engine.signal)) {
    const batch = { ...read, observations: withoutChanged(read.observations, watch) }
    recordExamined(engine, mirror, batch, summary)
    for (const { path, fingerprint } of batch.unsettled) watch.settler.markUnsettled(path, fingerprint)
    yield batch
  }
}

/** Leaves out files that changed again while they waited to be read: they are examined once they are settled. */
function withoutChanged(observations: readonly DirectoryObservation[], { settler }: MirrorWatch) {
  return observations.flatMap((observation) => {
    const { path, files, missing } = observation
    const settled = files.filter(({ name }) => !settler.has(joinPath(path, name)))
    if (settled.length === files.length) return [observation]
    return settled.length + missing.length === 0 ? [] : [{ ...observation, files: settled, digest: null }]
  })
}

function mustScan({ engine, mirror }: Examination, batch: ObservationBatch): boolean {
  if (batch.unreadable.length > 0 || batch.observations.some(({ missing }) => missing.length > 0)) return true
  if (batch.absent.some((path) => isKnownPath(engine, mirror, path))) return true
  return batch.observations.some((observation) => hasReplaced(engine, mirror, observation))
}

/** Whether a new file has taken the place of a known directory. */
function hasReplaced({ store }: Engine, { row }: OpenMirror, { path, files }: DirectoryObservation): boolean {
  const fresh = files.filter(({ isKnown }) => !isKnown)
  return fresh.some(({ name }) => store.directories.find(row.id, joinPath(path, name)) !== undefined)
}

function isKnownPath({ store }: Engine, { row }: OpenMirror, path: string): boolean {
  if (store.directories.find(row.id, path) !== undefined) return true
  const parent = parentOf(path)
  const name = path.slice(parent === '' ? 0 : parent.length + 1)
  return store.files.findForCompare(row.id, parent, name) !== undefined
}

/** Returns the given directories that lie below no other given one. */
function topmost(directories: readonly string[]): string[] {
  const all = new Set(directories)
  return directories.filter((path) => {
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (all.has(above)) return false
    return true
  })
}
