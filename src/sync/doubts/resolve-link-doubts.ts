import type { FileEntry } from '../../contract/records.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { IN_DOUBT, linkPauseLeftMs } from '../../rules/doubts.ts'
import { rankCandidate } from '../../rules/similar-names.ts'
import type { CopyInDoubt } from '../../store/tables/files.ts'
import type { Engine, MirrorContext, OpenMirror } from '../engine.ts'
import { linkKey } from '../pass.ts'
import type { PathProblem } from '../scan/scan-batch.ts'
import { listWanted, type SearchWork, trySearch } from './search.ts'

/**
 * Searches for the locations of copies whose last upload may have arrived (P4). A resource that is listed in the directory of such a copy,
 * under its name, has gained that location. Without it the copy is uploaded once more in this run, from the second time on after a
 * pause that grows. Returns the problems of copies that wait.
 */
export async function resolveLinkDoubts(context: MirrorContext, work: SearchWork): Promise<PathProblem[]> {
  const { engine, mirror } = context
  const { store, clock } = engine
  const { links } = work.attempts
  const problems: PathProblem[] = []
  const leave = (copy: CopyInDoubt, { code, message }: Omit<PathProblem, 'path'>) => {
    links.add(linkKey(copy))
    problems.push({ path: pathOf(copy), code, message })
  }
  const copies = store.files.listCopiesInDoubt(mirror.row.id).filter((copy) => !links.has(linkKey(copy)))
  const nowMs = clock.nowMs()
  const isPaused = (copy: CopyInDoubt) => linkPauseLeftMs(copy, nowMs) > 0
  for (const copy of copies.filter(isPaused)) leave(copy, { ...IN_DOUBT, message: copy.message ?? IN_DOUBT.message })
  const due = copies.filter((copy) => !isPaused(copy))
  for (const [directory, sought] of Map.groupBy(due, (copy) => copy.remoteDirectory)) {
    const resources = new Set(sought.map(({ resourceId }) => resourceId))
    const result = await trySearch(context, () => listWanted(context, directory, ({ id }) => resources.has(id)))
    for (const copy of sought) {
      if ('failure' in result) leave(copy, result.failure)
      else if (result.found.some((entry) => isLocation(entry, copy))) recordFound(engine, mirror, copy, work)
    }
  }
  return problems
}

function pathOf({ directory, name }: CopyInDoubt): string {
  return joinPath(directory, name)
}

function isLocation(entry: FileEntry, copy: CopyInDoubt): boolean {
  return entry.id === copy.resourceId && rankCandidate(entry, copy) !== undefined
}

function recordFound(
  { store, clock, logger, metrics, fileLog }: Engine,
  { row }: OpenMirror,
  copy: CopyInDoubt,
  { summary }: SearchWork,
): void {
  const { directoryId, name, uploadId, resourceId, size: sizeBytes } = copy
  store.write(() => {
    store.uploads.end(uploadId, 'adopted', null, clock.nowMs())
    store.files.receiveOne(directoryId, name)
  })
  summary.uploads.duplicates += 1
  summary.uploads.bytes += sizeBytes
  const path = pathOf(copy)
  metrics.uploadEnded('adopted', sizeBytes)
  logger.debug('found an earlier upload in the library', { mirror: row.name, path })
  fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId, isDuplicate: true })
}
