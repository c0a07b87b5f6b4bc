import type { FileCounts } from '../../contract/file-counts.ts'
import { joinLibraryPath } from '../../contract/library-path.ts'
import { FileError, messageOf } from '../../foundation/errors.ts'
import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { descend, readIgnoreFile } from '../../local/ignore/ignore-files.ts'
import { createRootScope, type IgnoreDecision } from '../../local/ignore/ignore-scope.ts'
import { BEGINNING_BYTES, findSecret } from '../../local/ignore/secret-contents.ts'
import type { FileSystem, Fingerprint } from '../../local/read/file-system.ts'
import { inspectRoot, type RootPlace } from '../../local/read/open-and-recheck-root.ts'
import { openGuarded, readChunk } from '../../local/read/open-guarded.ts'
import { listDirectory } from '../../local/scan/list-directory.ts'
import type { ListedDirectory } from '../../local/scan/stat-entry.ts'
import { ownDirectoriesBelow } from '../../rules/broad-and-overlapping-roots.ts'
import { looksUnchanged } from '../../rules/compare-directory.ts'
import { describeSkipped, skipProblem } from '../../rules/path-problems.ts'
import { ageMsOf } from '../../rules/settled-files.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { ContentRow } from '../../store/tables/contents.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { ProblemRow } from '../../store/tables/problems.ts'
import type { HistoricalContent } from '../../store/tables/report-queries.ts'
import type { UploadRow } from '../../store/tables/uploads.ts'
import type { MirrorSettings } from '../engine.ts'
import { assertSameService } from '../pin/pinned-service.ts'
import { OWN_DIRECTORY } from '../scan/scan-directory.ts'
import type { ReportContext } from './report.ts'
import { describeHeldBack } from './run-history.ts'
import { countFiles } from './status-of-mirrors.ts'

/**
 * What is on the disk at a path. `isChanged`: the file differs from the state. `ageMs`: how long ago the file changed. `settlesInMs`: how
 * long a daemon waits at least before it reads the file.
 */
export type DiskFinding =
  | {
      readonly kind: 'file'
      readonly sizeBytes: number
      readonly isChanged: boolean
      readonly ageMs: number
      readonly settlesInMs: number
    }
  | { readonly kind: 'directory' }
  | { readonly kind: 'ignored'; readonly by: string; readonly decision: IgnoreDecision }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'problem'; readonly message: string }
  | { readonly kind: 'absent' }

export interface PathExplanation {
  readonly mirror: MirrorRow
  readonly path: string
  readonly disk: DiskFinding
  readonly content: ContentRow | undefined
  /** The path of the file for which the content is sent, if that is another file. */
  readonly duplicateOf: string | undefined
  /** If the file is gone: paths of files that have its last content now. */
  readonly movedTo: readonly string[]
  readonly uploads: readonly UploadRow[]
  readonly problem: ProblemRow | undefined
  readonly history: readonly HistoricalContent[]
  /** Why limits held back new contents of the mirror in its last run; null if none did. */
  readonly heldBack: string | null
  /** Undefined for a file, and for a directory that is not in the state. */
  readonly directory: DirectoryExplanation | undefined
}

const MAX_MOVED_TO = 5

/** Explains a path of a mirror from disk and store, without asking the service. */
export function explainPath(
  context: ReportContext,
  mirror: MirrorRow,
  settings: MirrorSettings,
  path: string,
): PathExplanation {
  const { store } = context
  const [directory, name] = [parentOf(path), nameOf(path)]
  const row = store.report.listFiles(mirror.id, directory).find((file) => file.name === name)
  const content = row && store.contents.get(row.contentId)
  const original = row && store.report.findOriginal(mirror.id, row.contentId)
  const history = store.report.listHistory(mirror.id, path)
  const last = row ? undefined : history.at(-1)
  return {
    mirror,
    path,
    disk: inspectDisk(context, mirror, settings, path),
    content,
    duplicateOf: original === path ? undefined : original,
    movedTo: last?.reason === 'gone' ? store.report.listPathsOf(mirror.id, last.contentId, MAX_MOVED_TO) : [],
    uploads: content ? store.uploads.listByContent(content.id) : [],
    problem: store.problems.find(mirror.id, path),
    history,
    heldBack: describeHeldBack(store, mirror),
    directory: explainDirectory(store, mirror, settings, path),
  }
}

function inspectDisk(
  { store, fs, clock, ownDirectories }: ReportContext,
  mirror: MirrorRow,
  settings: MirrorSettings,
  path: string,
): DiskFinding {
  const root = inspectRoot(fs, settings.path)
  let scope = createRootScope(settings, root.realPath)
  const [directory, name] = [parentOf(path), nameOf(path)]
  const own = new Set(ownDirectoriesBelow(root.realPath, ownDirectories))
  const readRules = (at: string, fileName: string) => readIgnoreFile(fs, root, at, fileName)
  for (const ancestor of descend(directory, scope, readRules)) {
    scope = ancestor.scope
    if (own.has(ancestor.path)) return { kind: 'skipped', reason: OWN_DIRECTORY }
    const decision = scope.decide(ancestor.path, true)
    if (decision) return { kind: 'ignored', by: ancestor.path, decision }
  }
  const scan = listDirectory(fs, root, directory, scope, { rules: settings })
  if (scan.kind === 'scanned') {
    const row = store.files.findForCompare(mirror.id, directory, name)
    const found = findIn(scan, path, (fingerprint) => {
      const isChanged = row !== undefined && !looksUnchanged(fingerprint, row)
      const ageMs = ageMsOf(fingerprint, clock.nowMs())
      return { isChanged, ageMs, settlesInMs: Math.max(0, settings.settleMs - ageMs) }
    })
    const mayBeSecret = found.kind === 'file' && row === undefined && !scan.scope.bringsBack(directory, name)
    const secret = mayBeSecret ? secretOf(fs, root, path) : undefined
    return secret ? { kind: 'ignored', by: path, decision: secret } : found
  }
  return scan.code === 'ENOENT' ? { kind: 'absent' } : { kind: 'problem', message: scan.message }
}

/** Returns the decision to leave out a file whose content looks like a secret; undefined for any other and for an unreadable file. */
function secretOf(fs: FileSystem, root: RootPlace, path: string): IgnoreDecision | undefined {
  try {
    using file = openGuarded(fs, root, path)
    return findSecret(readChunk(fs, file, new Uint8Array(BEGINNING_BYTES), 0))
  } catch (error) {
    if (error instanceof FileError) return undefined
    throw error
  }
}

function findIn(
  scan: ListedDirectory,
  path: string,
  compare: (
    fingerprint: Fingerprint,
  ) => Pick<Extract<DiskFinding, { kind: 'file' }>, 'isChanged' | 'ageMs' | 'settlesInMs'>,
): DiskFinding {
  const name = nameOf(path)
  const hasName = (entry: { readonly name: string }) => entry.name === name
  const file = [...scan.files].find(hasName)
  if (file) return { kind: 'file', sizeBytes: file.fingerprint.sizeBytes, ...compare(file.fingerprint) }
  if (scan.directories.includes(name) || name === '') return { kind: 'directory' }
  const ignored = scan.ignored.find(hasName)
  if (ignored) return { kind: 'ignored', by: path, decision: ignored.decision }
  const skipped = scan.skipped.find(hasName)
  const problem = skipped ? skipProblem(skipped) : scan.problems.find(hasName)
  if (problem) return { kind: 'problem', message: problem.message }
  return skipped ? { kind: 'skipped', reason: describeSkipped(skipped) } : { kind: 'absent' }
}

export interface RemoteFinding {
  readonly paths: readonly string[]
  readonly error: string | null
}

/** Asks the service for the library paths of a file's resource; returns undefined for a path without a resource. */
export async function locateResource(
  { service, signal }: Pick<ReportContext, 'service' | 'signal'>,
  { mirror, content }: PathExplanation,
): Promise<RemoteFinding | undefined> {
  if (!content?.resourceId) return undefined
  try {
    const { client, access } = await service.connect(signal)
    assertSameService(mirror, service, access)
    const { paths = [] } = await client.showResource(mirror.library.remoteId, content.resourceId, signal)
    return { paths, error: null }
  } catch (error) {
    return { paths: [], error: messageOf(error) }
  }
}

export interface DirectoryExplanation {
  /** The path of the directory in the library, where it may not exist yet. */
  readonly remotePath: string
  /** When it was created in the library (wall clock); null while it is pending. */
  readonly createdAt: number | null
  /** Whether it is created only once it holds a file, because the mirror includes only some files. */
  readonly awaitsFile: boolean
  readonly directories: number
  readonly files: FileCounts
  readonly problems: readonly ProblemRow[]
}

function explainDirectory(
  store: StoreReader,
  mirror: MirrorRow,
  { include }: MirrorSettings,
  path: string,
): DirectoryExplanation | undefined {
  const directory = store.directories.get(mirror.id, path)
  if (!directory) return undefined
  const prefix = path === '' ? '' : `${path}/`
  const files = countFiles(store.report.tallyStatesBelow(mirror.id, path), store.isLocked())
  return {
    remotePath: joinLibraryPath(mirror.remotePath, path),
    createdAt: directory.createdAt,
    awaitsFile: directory.createdAt === null && include.length > 0 && files.known === 0,
    directories: store.directories.countBelow(mirror.id, path),
    files,
    problems: store.problems.list(mirror.id).filter((problem) => problem.path.startsWith(prefix)),
  }
}
