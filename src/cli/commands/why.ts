import { nothingMirrored } from '../../app/mirrors/choose-known.ts'
import { settingsOfRow } from '../../app/mirrors/choose-mirrors.ts'
import { choosePlace, findPlace } from '../../app/mirrors/choose-place.ts'
import { openReader } from '../../app/open-engine.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime, timeOfDay } from '../../foundation/text/times.ts'
import { isTextSearchable } from '../../rules/without-text.ts'
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
import type { CommandContext } from '../context.ts'
import { FLEET_FLAGS, openView } from '../fleet/open-view.ts'
import { describeInFleet, explainAtHost, type InFleet, readInFleet } from '../fleet/show-content.ts'
import { renderFields } from '../render/layout.ts'

export const command = defineCommand({
  description:
    'Of a file: ignored by which rule of which file and line, left out, a copy of which file, moved where, quarantined until when, which resource it is, where that lies in the library, how its ingestion went and when that was seen. Of a directory: whether it was created in the library, and the files known below it by state.',
  positionals: {
    path: { type: 'string', required: true, describe: 'A file or directory of a mirror', placeholder: 'PATH' },
  },
  options: {
    offline: { type: 'boolean', describe: 'Do not ask the service where the resource lies' },
    fleet: { ...FLEET_FLAGS.fleet, describe: 'Also what the ledger and other hosts know of the content' },
    host: { ...FLEET_FLAGS.host, describe: 'What failed at this host of the ledger; PATH is one there' },
  },
  examples: [
    ['why ~/Papers/draft.md', 'why this file is, or is not, in the library'],
    ['why ~/Papers/drafts', 'the state of the files below this directory'],
    ['why ~/Papers/draft.md --fleet', 'which host sent its content, or sends it now'],
    ['why notes/.env --json', 'the same for scripts'],
  ],
  exits: ['done', 'rootMissing', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    if (args.host !== undefined) {
      if (args.fleet || args.offline)
        throw new UsageError('bad-usage', 'Give --host NAME without --fleet and --offline')
      await explainAtHost(context, args.host, args.path)
      return
    }
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
    })
    const choice = { word: args.path, cwd: context.io.cwd }
    if (!reader.store) {
      findPlace(context.settings, undefined, choice)
      throw nothingMirrored()
    }
    const reportContext = reader.contextFor(reader.store)
    const known = reader.store.mirrors.list()
    const { row, path } = choosePlace(context.settings, reader.store, choice)
    const found = explainPath(reportContext, row, settingsOfRow(context.settings, known, row), path)
    const remote = args.offline ? undefined : await locateResource(reportContext, found)
    const fleet = await askLedger(context, args, found)
    if (context.json) context.printJson({ ...explanationJson(found, remote), fleet: fleet ?? null })
    else {
      const nowMs = reportContext.clock.nowMs()
      const say = (timeMs: number) => timeOfDay(timeMs, nowMs)
      const inFleet = fleet && describeInFleet(fleet, { isNew: found.content?.state === 'new', nowMs })
      context.printText(renderFields({ ...describeExplanation(found, remote, { nowMs, say }), ...inFleet }))
    }
  },
})

async function askLedger(
  context: CommandContext,
  { fleet, offline }: { readonly fleet: boolean; readonly offline: boolean },
  { content, mirror }: PathExplanation,
): Promise<InFleet | undefined> {
  const isOfInterest = context.settings.fleet && !offline && content && content.state !== 'stored'
  if (!fleet && !isOfInterest) return undefined
  try {
    await using view = await openView(context)
    return content && (await readInFleet(view, content.sha256.toString('hex'), mirror.library.remoteId))
  } catch (error) {
    if (fleet) throw error
    context.printMessage(`Cannot ask the ledger: ${escapeText(messageOf(error))}`)
    return undefined
  }
}

/** docs/report.md explains the keys. */
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
    earlierVersions: history.map((version) => {
      const { sha256, resourceId, reason, endedAt } = version
      const isSearchable = isTextSearchable(version)
      return { sha256: sha256.toString('hex'), resourceId, reason, endedAt: isoTime(endedAt), isSearchable }
    }),
    directory: directory ? directoryJson(directory) : null,
  }
}

function diskJson(disk: DiskFinding) {
  const none = { size: null, isChanged: null, isSettled: null, reason: null, rule: null }
  switch (disk.kind) {
    case 'file':
      return {
        ...none,
        kind: disk.kind,
        size: disk.sizeBytes,
        isChanged: disk.isChanged,
        isSettled: disk.settlesInMs === 0,
      }
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
  const hasText = outcome === 'searchable' ? isTextSearchable(content) : null
  return { status, outcome, note, isTextSearchable: hasText, seenAt: isoTime(content.ingestionSeenAt) }
}

function directoryJson({ remotePath, createdAt, directories, files, problems }: DirectoryExplanation) {
  const listed = problems.map((problem) => ({ path: problem.path, ...problemJson(problem) }))
  return { remotePath, createdAt: isoTime(createdAt), directories, files, problems: listed }
}

function problemJson({ code, message, firstAt, count, retryAt, isSetAside }: ProblemRow) {
  return { code, message, firstAt: isoTime(firstAt), count, retryAt: isoTime(retryAt), isSetAside: isSetAside === 1 }
}
