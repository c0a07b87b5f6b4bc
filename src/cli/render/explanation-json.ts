import { WITHOUT_TEXT } from '../../rules/without-text.ts'
import type { ProblemRow } from '../../store/tables/problems.ts'
import type { DirectoryExplanation } from '../../sync/report/explain/explain-directory.ts'
import type { DiskFinding, PathExplanation, RemoteFinding } from '../../sync/report/explain/explain-path.ts'

/** The object that `why --json` prints; docs/report.md explains its keys. */
export function explanationJson(found: PathExplanation, remote: RemoteFinding | undefined) {
  const { mirror, path, disk, content, uploads, problem, history, directory } = found
  return {
    mirror: mirror.name,
    root: mirror.path,
    library: { id: mirror.library.remoteId, name: mirror.library.name },
    path,
    disk: diskJson(disk),
    content: content ? contentJson(content) : null,
    duplicateOf: found.duplicateOf ?? null,
    movedTo: found.movedTo,
    heldBack: content?.state === 'new' ? found.heldBack : null,
    remotePaths: remote?.paths ?? [],
    remoteError: remote?.error ?? null,
    uploads: uploads.map(({ attempt, path: from, begunAt, endedAt, outcome, message }) => {
      return { attempt, path: from, startedAt: isoTime(begunAt), endedAt: isoTime(endedAt), outcome, message }
    }),
    problem: problem ? problemJson(problem) : null,
    earlierVersions: history.map(({ sha256, resourceId, outcome, reason, endedAt }) => {
      const isSearchable = outcome === 'searchable'
      return { sha256: sha256.toString('hex'), resourceId, reason, endedAt: isoTime(endedAt), isSearchable }
    }),
    directory: directory ? directoryJson(directory) : null,
  }
}

function diskJson(disk: DiskFinding) {
  const none = { size: null, reason: null, rule: null }
  switch (disk.kind) {
    case 'file':
      return { ...none, kind: disk.kind, size: disk.sizeBytes }
    case 'ignored': {
      const { pattern, source, line, secret: isSecret } = disk.decision
      return { ...none, kind: disk.kind, rule: { pattern, source, line, isSecret, matches: disk.by } }
    }
    case 'skipped':
      return { ...none, kind: disk.kind, reason: disk.reason }
    case 'problem':
      return { ...none, kind: disk.kind, reason: disk.message }
    default:
      return { ...none, kind: disk.kind }
  }
}

function contentJson(content: NonNullable<PathExplanation['content']>) {
  const { sha256, mime, size, state, resourceId, outcome, problemCode: code, problemMessage: message } = content
  return {
    sha256: sha256.toString('hex'),
    mime,
    size,
    state,
    wasThereAlready: content.isDuplicate === 1,
    mayHaveSecondLocation: content.secondLocation === 1,
    resourceId,
    uploadedAt: isoTime(content.uploadedAt),
    searchableAt: isoTime(content.searchableAt),
    ingestion: outcome === null ? null : ingestionJson(content),
    problem: code === null ? null : { code, message, count: content.problemCount, retryAt: isoTime(content.retryAt) },
    isSetAside: content.isSetAside === 1,
  }
}

function ingestionJson(content: NonNullable<PathExplanation['content']>) {
  const { ingestionStatus: status, outcome, ingestionNote: note } = content
  const isTextSearchable = outcome === 'searchable' ? note !== WITHOUT_TEXT : null
  return { status, outcome, note, isTextSearchable, seenAt: isoTime(content.ingestionSeenAt) }
}

function directoryJson({ remotePath, createdAt, directories, files, problems }: DirectoryExplanation) {
  const listed = problems.map((problem) => ({ path: problem.path, ...problemJson(problem) }))
  return { remotePath, createdAt: isoTime(createdAt), directories, files, problems: listed }
}

function problemJson({ code, message, firstAt, count, retryAt }: ProblemRow) {
  return { code, message, firstAt: isoTime(firstAt), count, retryAt: isoTime(retryAt) }
}

function isoTime(timeMs: number): string
function isoTime(timeMs: number | null): string | null
function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
