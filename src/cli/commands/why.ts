import { chooseByPath } from '../../app/choose-known.ts'
import { settingsOfRow } from '../../app/choose-mirrors.ts'
import { openReader } from '../../app/open-engine.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import { formatSize } from '../../foundation/units.ts'
import { quarantineLeftMs } from '../../rules/quarantine-pause.ts'
import { describeWithoutText } from '../../rules/without-text.ts'
import { type DiskFinding, explainPath, locateResource, type PathExplanation } from '../../sync/explain-path.ts'
import type { ReportContext } from '../../sync/report.ts'
import { defineCommand } from '../command.ts'
import { renderFields } from '../render/table.ts'

export const whyCommand = defineCommand({
  name: 'why',
  summary: 'Show everything known of one path',
  description:
    'Ignored by which rule of which file and line, skipped, a duplicate, quarantined until when, which resource it is, where that lies in the library, how its ingestion went.',
  positionals: {
    path: { type: 'string', required: true, describe: 'A file or directory of a mirror', placeholder: 'PATH' },
  },
  options: { offline: { type: 'boolean', describe: 'Do not ask the service where the resource lies' } },
  examples: [
    ['why ~/Papers/draft.md', 'why this file is, or is not, in the library'],
    ['why notes/.env --json', 'the same for scripts'],
  ],
  exits: ['done', 'rootMissing', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
    })
    if (!reader.store) throw new UsageError('unknown-mirror', 'Nothing was mirrored yet: see "shelfd sync --help"')
    const reportContext = reader.contextFor(reader.store)
    const known = reader.store.mirrors.list()
    const { row, path } = chooseByPath(context.settings, known, { word: args.path, cwd: context.io.cwd })
    const found = explainPath(reportContext, row, settingsOfRow(context.settings, known, row), path)
    const remote = args.offline ? undefined : await locate(reportContext, found)
    if (context.json) context.printJson(toJson(found, remote))
    else context.print(renderFields({ ...describe(found), ...describeRemote(remote), ...describeHistory(found) }))
    return 'done'
  },
})

interface Remote {
  readonly paths: readonly string[]
  readonly note: string | null
}

async function locate(context: ReportContext, { mirror, content }: PathExplanation): Promise<Remote | undefined> {
  if (!content?.resourceId) return undefined
  try {
    const { paths } = await locateResource(context, mirror, content.resourceId)
    return { paths, note: null }
  } catch (error) {
    return { paths: [], note: messageOf(error) }
  }
}

function describe(found: PathExplanation): Record<string, string | undefined> {
  const { mirror, path, disk, content, duplicateOf, problem } = found
  return {
    path: path || '.',
    mirror: `${mirror.name} (${mirror.path} → ${mirror.library.name}:${mirror.remotePath})`,
    'on disk': describeDisk(disk),
    problem: problem && `${problem.message} [${problem.code}], seen ${problem.count} times`,
    'known to shelfd': content ? undefined : 'no: not scanned yet, or left out',
    content: content && `${content.sha256.toString('hex')} ${content.mime}, ${formatSize(content.size)}`,
    state: content && describeState(content, found.heldBack),
    'duplicate of': duplicateOf,
    resource: content?.resourceId ?? undefined,
    uploaded: content?.uploadedAt ? isoTime(content.uploadedAt) : undefined,
    ingestion: content?.outcome ? `${content.ingestionStatus ?? 'not polled yet'} (${content.outcome})` : undefined,
    'the service says': content?.ingestionNote
      ? (describeWithoutText(content.ingestionNote, content.mime) ?? content.ingestionNote)
      : undefined,
    searchable: content?.searchableAt ? isoTime(content.searchableAt) : undefined,
  }
}

function describeState(content: NonNullable<PathExplanation['content']>, heldBack: string | null): string {
  const texts = {
    new: heldBack === null ? 'not sent yet' : `not sent yet: ${heldBack}`,
    sending: 'being sent, or cut off while it was',
    doubt: content.problemMessage ?? 'sent, but it is not known whether the service stored it; the next run looks',
    stored: content.isDuplicate === 1 ? 'stored; the library had these bytes already' : 'stored',
    refused: `refused: ${content.problemMessage ?? 'no reason given'}`,
  }
  const { retryAt } = content
  const isOver = retryAt === null || quarantineLeftMs(retryAt, Date.now()) === 0
  const until = isOver ? '' : `; quarantined until ${isoTime(retryAt)}`
  return `${texts[content.state]}${content.isSetAside === 1 ? '; set aside' : until}`
}

function describeDisk(disk: DiskFinding): string {
  switch (disk.kind) {
    case 'file':
      return `a file of ${formatSize(disk.sizeBytes)}`
    case 'directory':
      return 'a directory'
    case 'ignored': {
      const { pattern, source, line, secret } = disk.decision
      const where = line === null ? source : `${source}, line ${line}`
      return `ignored by the rule "${pattern}" (${where})${secret ? ', as it looks like a secret' : ''}; it matches ${disk.by}`
    }
    case 'skipped':
      return `left out: ${disk.reason}`
    case 'problem':
      return disk.message
    case 'absent':
      return 'not there'
  }
}

function describeRemote(remote: Remote | undefined): Record<string, string | undefined> {
  if (!remote) return {}
  return { 'in the library': remote.note ?? (remote.paths.join(', ') || 'the service does not say where') }
}

function describeHistory({ uploads, formers }: PathExplanation): Record<string, string> {
  const entries = uploads.map(({ attempt, begunAt, outcome, path, message }) => {
    const text = `${isoTime(begunAt)} ${outcome ?? 'cut off'}, from ${path}${message === null ? '' : `: ${message}`}`
    return [`upload ${attempt}`, text] as const
  })
  const former = formers.map(({ resourceId, endedAt, reason }, index) => {
    return [`former ${index + 1}`, `${resourceId ?? 'never stored'}, until ${isoTime(endedAt)} (${reason})`] as const
  })
  return Object.fromEntries([...entries, ...former])
}

function toJson(found: PathExplanation, remote: Remote | undefined) {
  const { mirror, path, disk, content, duplicateOf, uploads, problem, formers } = found
  return {
    mirror: mirror.name,
    path,
    disk,
    content: content ? { ...content, sha256: content.sha256.toString('hex') } : null,
    duplicateOf: duplicateOf ?? null,
    remotePaths: remote?.paths ?? [],
    uploads,
    problem: problem ?? null,
    formers: formers.map((former) => ({ ...former, sha256: former.sha256.toString('hex') })),
  }
}

function isoTime(timeMs: number): string {
  return escapeText(new Date(timeMs).toISOString())
}
