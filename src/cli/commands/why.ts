import { settingsOfRow } from '../../app/mirrors/choose-mirrors.ts'
import { choosePath, findPath } from '../../app/mirrors/choose-path.ts'
import { nothingMirrored } from '../../app/mirrors/choose-stored.ts'
import { openReader } from '../../app/open-engine.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime, timeOfDay } from '../../foundation/text/times.ts'
import type { ContentFact, FleetView, OfHost } from '../../ledger/fleet-view.ts'
import type { PublishedProblem } from '../../ledger/published.ts'
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
import { renderFields } from '../render/layout.ts'
import { FLEET_FLAGS, findHost, MAX_PROBLEMS, openView, withHost } from '../show-fleet.ts'

export const command = defineCommand({
  description:
    'For a file, it shows which rule in which file and line ignores it, whether it is left out, of which file it is a copy, where it was moved, until when it is in quarantine, which resource it is, where the resource is in the library, and how its ingestion went and when that was seen. For a directory, it shows whether it was created in the library, and how many files below it have which state.',
  positionals: {
    path: { type: 'string', required: true, describe: 'A file or directory of a mirror', placeholder: 'PATH' },
  },
  options: {
    offline: { type: 'boolean', describe: 'Do not ask the service where the resource is' },
    fleet: { ...FLEET_FLAGS.fleet, describe: 'Also show what the ledger and other hosts know about the content' },
    host: { ...FLEET_FLAGS.host, describe: 'Show what failed at this host of the ledger; PATH is a path there' },
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
      findPath(context.settings, undefined, choice)
      throw nothingMirrored()
    }
    const reportContext = reader.contextFor(reader.store)
    const storedMirrors = reader.store.mirrors.list()
    const { row, path } = choosePath(context.settings, reader.store, choice)
    const found = explainPath(reportContext, row, settingsOfRow(context.settings, storedMirrors, row), path)
    const remote = args.offline ? undefined : await locateResource(reportContext, found)
    const fleet = await askLedger(context, args, found)
    if (context.json) context.printJson({ ...explanationJson(found, remote), fleet: fleet ?? null })
    else {
      const nowMs = reportContext.clock.nowMs()
      const format = (timeMs: number) => timeOfDay(timeMs, nowMs)
      const fromFleet = fleet && describeFleetFindings(fleet, { isNew: found.content?.state === 'new', nowMs })
      context.printText(renderFields({ ...describeExplanation(found, remote, { nowMs, format }), ...fromFleet }))
    }
  },
})

async function askLedger(
  context: CommandContext,
  { fleet, offline }: { readonly fleet: boolean; readonly offline: boolean },
  { content, mirror }: PathExplanation,
): Promise<FleetFindings | undefined> {
  const isOfInterest = context.settings.fleet && !offline && content && content.state !== 'stored'
  if (!fleet && !isOfInterest) return undefined
  try {
    await using view = await openView(context)
    return content && (await readFleetFindings(view, content.sha256.toString('hex'), mirror.library.remoteId))
  } catch (error) {
    if (fleet) throw error
    context.printMessage(`Cannot ask the ledger: ${escapeText(messageOf(error))}`)
    return undefined
  }
}

const MAX_FAILURES = 20

/** What the ledger and the hosts know about a content, with times in ISO 8601. */
interface FleetFindings {
  readonly facts: readonly (Omit<ContentFact, 'origin' | 'libraryId' | 'at'> & { readonly at: string | null })[]
  readonly failures: readonly (PublishedProblem & Pick<OfHost, 'host'>)[]
}

async function readFleetFindings(view: FleetView, sha256: string, libraryId: string): Promise<FleetFindings> {
  const facts = (await view.explainContent(sha256)).filter((fact) => fact.libraryId === libraryId)
  const failures = await view.listProblems({ hostId: null, limit: MAX_FAILURES, sha256 })
  return {
    facts: facts.map(({ origin: _, libraryId: _of, at, ...fact }) => ({ ...fact, at: isoTime(at) })),
    failures: failures.map(withHost),
  }
}

/** Returns texts by label. `isNew`: this host has no receipt of the content yet, so the state names the host that sent it. */
function describeFleetFindings(
  { facts, failures }: FleetFindings,
  { isNew, nowMs }: { readonly isNew: boolean; readonly nowMs: number },
): Record<string, string> {
  const sender = isNew && facts.find(({ kind }) => kind === 'stored')?.host
  const state: [string, string][] = sender
    ? [['state', `sent by ${sender}; this host records that with its next run`]]
    : []
  const described = facts.map((fact) => describeFact(fact, nowMs))
  const failed = failures.map(({ host, mirror, path }): [string, string] => [`failed at ${host}`, `${mirror}: ${path}`])
  return Object.fromEntries([...state, ...described, ...failed])
}

function describeFact(
  { kind, host, at, code, message }: FleetFindings['facts'][number],
  nowMs: number,
): [string, string] {
  const time = at === null ? '' : timeOfDay(Date.parse(at), nowMs)
  switch (kind) {
    case 'stored':
      return ['sent by', `${host}, ${time}`]
    case 'claimed':
      return ['being sent', time === '' ? `by ${host}` : `by ${host} since ${time}`]
    case 'in-doubt':
      return ['not known', `whether an upload of ${host} arrived; the next host that has the file checks this`]
    case 'refused':
      return [
        'refused',
        `for ${host}: ${message || 'it keeps to itself what the service said'} [${code}]${time === '' ? '' : `; tried again after ${time}`}`,
      ]
    case 'second-send':
      return ['sent twice', `by ${host}, noticed ${time}`]
  }
}

/** Prints the problems of a file that a host reported. `word`: its path in a mirror or on the disk, or the beginning of its SHA-256. */
async function explainAtHost(context: CommandContext, name: string, word: string): Promise<void> {
  await using view = await openView(context)
  const { id } = await findHost(view, name)
  const roots = new Map((await view.listMirrors(id)).map((mirror) => [mirror.name, mirror.path]))
  const found = (await view.listProblems({ hostId: id, limit: MAX_PROBLEMS })).filter(({ mirror, path, content }) => {
    const isContent = word.length >= 6 && content?.sha256.startsWith(word.toLowerCase())
    return isContent || path === word || `${roots.get(mirror) ?? mirror}/${path}` === word
  })
  if (found.length === 0) {
    const text = `"${escapeText(name)}" reported no problem of "${escapeText(word)}": hosts report problems only`
    throw new UsageError('bad-usage', `${text}; "shelfd report --host NAME" lists them`)
  }
  if (context.json) {
    context.printJson({ problems: found.map(withHost) })
    return
  }
  for (const { host, mirror, path, code, message, content } of found) {
    context.printText(
      renderFields({
        host,
        mirror: `${mirror}${roots.get(mirror) ? ` (${roots.get(mirror)})` : ''}`,
        path,
        problem: `${message} [${code}]`,
        sha256: content?.sha256,
        tries: content?.tries,
        since: describeIso(content?.since),
        'next try': content?.isSetAside ? 'never: set aside' : describeIso(content?.retryAt),
      }),
    )
  }
}

function describeIso(iso: string | null | undefined): string | undefined {
  return iso ? timeOfDay(Date.parse(iso), Date.now()) : undefined
}

/** Returns an explanation for JSON; docs/report.md explains the keys. */
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
