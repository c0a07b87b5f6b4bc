import { chooseByPath, nothingMirrored } from '../../app/mirrors/choose-known.ts'
import { settingsOfRow } from '../../app/mirrors/choose-mirrors.ts'
import { openReader } from '../../app/open-engine.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { WITHOUT_TEXT } from '../../rules/without-text.ts'
import type { ProblemRow } from '../../store/tables/problems.ts'
import { describeExplanation } from '../../sync/report/describe-explanation.ts'
import {
  type DirectoryExplanation,
  type DiskFinding,
  explainPath,
  locateResource,
  type PathExplanation,
  type RemoteFinding,
} from '../../sync/report/explain-path.ts'
import { defineCommand } from '../command.ts'
import { renderFields } from '../render/layout.ts'

export const command = defineCommand({
  description:
    'Of a file: ignored by which rule of which file and line, left out, a copy of which file, moved where, quarantined until when, which resource it is, where that lies in the library, how its ingestion went and when that was seen. Of a directory: whether it was created in the library, and the files known below it by state.',
  positionals: {
    path: { type: 'string', required: true, describe: 'A file or directory of a mirror', placeholder: 'PATH' },
  },
  options: { offline: { type: 'boolean', describe: 'Do not ask the service where the resource lies' } },
  examples: [
    ['why ~/Papers/draft.md', 'why this file is, or is not, in the library'],
    ['why ~/Papers/drafts', 'the state of the files below this directory'],
    ['why notes/.env --json', 'the same for scripts'],
  ],
  exits: ['done', 'rootMissing', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
    })
    if (!reader.store) throw nothingMirrored()
    const reportContext = reader.contextFor(reader.store)
    const known = reader.store.mirrors.list()
    const { row, path } = chooseByPath(context.settings, known, { word: args.path, cwd: context.io.cwd })
    const found = explainPath(reportContext, row, settingsOfRow(context.settings, known, row), path)
    const remote = args.offline ? undefined : await locateResource(reportContext, found)
    if (context.json) context.printJson(explanationJson(found, remote))
    else context.print(renderFields(describeExplanation(found, remote, reportContext.clock.nowMs())))
  },
})

/** Returns the object that `why --json` prints; docs/report.md explains its keys. */
function explanationJson(found: PathExplanation, remote: RemoteFinding | undefined) {
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
    sentBy: content.host,
    uploadedAt: isoTime(content.uploadedAt),
    searchableAt: isoTime(content.searchableAt),
    ingestion: outcome === null ? null : ingestionJson(content),
    problem: code === null ? null : { code, message, count: content.failedTries, retryAt: isoTime(content.retryAt) },
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
