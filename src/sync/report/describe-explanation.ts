import type { FileCounts } from '../../contract/file-counts.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { formatSpan } from '../../foundation/text/times.ts'
import { formatDuration, formatSize } from '../../foundation/text/units.ts'
import { patternOfPath } from '../../local/ignore/ignore-rule.ts'
import { describeEnd } from '../../rules/report-class.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import { describeWithoutText, isTextSearchable } from '../../rules/without-text.ts'
import type { ProblemRow } from '../../store/tables/problems.ts'
import type { UploadOutcome } from '../../store/tables/uploads.ts'
import type { DirectoryExplanation, DiskFinding, PathExplanation, RemoteFinding } from './explain-path.ts'

type Content = NonNullable<PathExplanation['content']>
type Fields = Record<string, string | undefined>

const OUTCOME_WORDS: Readonly<Record<UploadOutcome, string>> = {
  created: 'sent',
  duplicate: 'was in the library already',
  adopted: 'found in the library',
  absent: 'looked for and not found',
  refused: 'refused',
  doubt: 'not known whether it arrived',
  'not-sent': 'not sent',
}

const MAX_LISTED_PROBLEMS = 5

interface Times {
  readonly nowMs: number
  readonly format: (timeMs: number) => string
}

/** Describes a path as texts by label. Waits that ended before `nowMs` are omitted. */
export function describeExplanation(found: PathExplanation, remote: RemoteFinding | undefined, times: Times): Fields {
  const { content, directory } = found
  return {
    ...describePath(found),
    ...(content && describeContent(content, found, times)),
    ...(directory && describeDirectory(directory, times)),
    ...describeRemote(remote),
    ...describeHistory(found, times),
  }
}

function describePath({ mirror, path, disk, content, directory, problem, movedTo, history }: PathExplanation): Fields {
  const isStored = content !== undefined || directory !== undefined
  const isMoved = movedTo.length > 0
  // For any other path, the text "on disk" contains the reason.
  const never = disk.kind === 'file' || disk.kind === 'directory' ? 'no: not scanned yet' : 'no'
  const absent = history.length > 0 ? 'no longer; its earlier versions are listed below' : never
  return {
    path: path || '.',
    mirror: `${mirror.name} (${mirror.path} → ${mirror.library.name}:${mirror.remotePath})`,
    'on disk': describeDisk(disk, isStored),
    'moved to': movedTo.join(', '),
    problem: problem && describePathProblem(problem, disk),
    'in the state': isStored || isMoved || problem !== undefined ? undefined : absent,
  }
}

/** Says "as above" instead of the message if the text "on disk" has the same one. */
function describePathProblem({ message, code, count, isSetAside }: ProblemRow, disk: DiskFinding): string {
  const text = disk.kind === 'problem' && disk.message === message ? 'as above' : message
  return `${text} [${code}], seen ${counted(count, 'time')}${isSetAside === 1 ? '; set aside' : ''}`
}

function describeDisk(disk: DiskFinding, isStored: boolean): string {
  switch (disk.kind) {
    case 'file':
      return describeFile(disk)
    case 'directory':
      return 'a directory'
    case 'ignored': {
      const { pattern, source, line, secret } = disk.decision
      if (source === 'content')
        return `left out: it holds ${pattern}; a line "!${patternOfPath(disk.by)}" in .shelfdignore sends it`
      if (source === 'include') return `left out: no pattern of include matches ${disk.by} (${pattern})`
      const where = line === null ? source : `${source}, line ${line}`
      return `ignored by the rule "${pattern}" (${where})${secret ? ', as it looks like a secret' : ''}; it matches ${disk.by}`
    }
    case 'skipped':
      return `left out: ${disk.reason}`
    case 'problem':
      return disk.message
    case 'absent':
      return isStored ? 'no longer there; the next scan records it as gone' : 'not there'
  }
}

function describeFile({ sizeBytes, isChanged, ageMs, settlesInMs }: Extract<DiskFinding, { kind: 'file' }>): string {
  const changed = isChanged ? ', changed or touched since the last scan: the next scan reads it again' : ''
  const ago = `waits: changed ${isChanged ? 'again ' : ''}${formatSpan(ageMs)} ago`
  const settling =
    settlesInMs > 0
      ? `; ${ago}, and a daemon sends it once it is unchanged for another ${formatDuration(settlesInMs)}`
      : ''
  return `a file of ${formatSize(sizeBytes)}${changed}${settling}`
}

function describeContent(content: Content, { duplicateOf, heldBack }: PathExplanation, times: Times): Fields {
  const { uploadedAt, searchableAt } = content
  return {
    content: `${content.sha256.toString('hex')} ${content.mime}, ${formatSize(content.size)}`,
    state: describeState(content, heldBack, times),
    'copy of': duplicateOf,
    resource: content.resourceId ?? undefined,
    'sent by': content.host ?? undefined,
    uploaded: uploadedAt === null ? undefined : times.format(uploadedAt),
    ingestion: describeIngestion(content, times),
    note: describeNote(content),
    // In other states, the text "state" contains the problem.
    ...(content.state === 'stored' && { problem: describeProblem(content, times) }),
    searchable: searchableAt === null || !isTextSearchable(content) ? undefined : times.format(searchableAt),
  }
}

function describeState(content: Content, heldBack: string | null, times: Times): string {
  const texts = {
    new: heldBack === null ? 'not sent yet' : `not sent yet: ${heldBack}`,
    sending: 'being sent, or its upload was cut off',
    doubt: content.problemMessage ?? 'not known whether it arrived; checked next run',
    stored: content.isDuplicate === 1 ? 'stored; the library had these bytes already' : 'stored',
    refused: `refused: ${content.problemMessage ?? 'no reason given'}`,
  }
  const wait = content.state === 'stored' ? '' : describeWait(content, 'quarantined until', times)
  return `${texts[content.state]}${wait}`
}

/** Returns a text such as `running (pending), seen 14:05`. */
function describeIngestion(content: Content, times: Times): string | undefined {
  const { outcome, ingestionStatus: status, ingestionSeenAt } = content
  if (outcome === null) return undefined
  const seen = ingestionSeenAt === null ? '' : `, seen ${times.format(ingestionSeenAt)}`
  // If a resource has no text, the note says so.
  const isPlain = outcome === status || (outcome === 'searchable' && !isTextSearchable(content))
  return `${status ?? 'not polled yet'}${isPlain ? '' : ` (${outcome})`}${seen}`
}

/** Returns the service's note on a searchable content. The note on a failed one is part of its problem. */
function describeNote(content: Content): string | undefined {
  const { outcome, ingestionNote } = content
  if (ingestionNote === null || outcome !== 'searchable') return undefined
  return describeWithoutText(ingestionNote, content) ?? ingestionNote
}

function describeProblem(content: Content, times: Times): string | undefined {
  const { problemCode, problemMessage, failedTries } = content
  if (problemCode === null) return undefined
  const wait = describeWait(content, 'checked again after', times)
  return `${problemMessage} [${problemCode}], seen ${counted(failedTries, 'time')}${wait}`
}

function describeWait({ retryAt, isSetAside }: Content, until: string, times: Times): string {
  if (isSetAside === 1) return '; set aside'
  return retryAt === null || quarantineLeftMs(retryAt, times.nowMs) === 0 ? '' : `; ${until} ${times.format(retryAt)}`
}

function describeDirectory(
  { remotePath, createdAt, awaitsFile, directories, files, problems }: DirectoryExplanation,
  times: Times,
): Fields {
  const pending = awaitsFile
    ? 'not created, as it holds no file that is included'
    : 'not created yet; the next run creates it'
  const since = createdAt === null ? pending : `since ${times.format(createdAt)}`
  const shown = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ path, code, message, isSetAside }, index) => {
    const end = isSetAside === 1 ? '; set aside' : ''
    return [`problem ${index + 1}`, `${path}: ${message} [${code}]${end}`] as const
  })
  const more = problems.length - shown.length
  return {
    'in the library': `${remotePath}, ${since}`,
    files: describeFiles(files),
    directories: directories === 0 ? undefined : `${directories} below it`,
    ...Object.fromEntries(shown),
    'more problems': more > 0 ? `${more}: shelfd report --only needs-attention` : undefined,
  }
}

/** Returns a text such as `5 known: 3 searchable, 1 to send, 1 needs attention`. */
function describeFiles(files: FileCounts): string {
  const { known, searchable, withoutText } = files
  const parts: readonly (readonly [number, string])[] = [
    [searchable, 'searchable'],
    [withoutText, 'stored without searchable text'],
    [files.inIngestion, 'being processed'],
    [files.toSend, 'to send'],
    [files.sending, 'being sent'],
    [files.inDoubt, 'not known whether they arrived'],
    [files.needAttention, files.needAttention === 1 ? 'needs attention' : 'need attention'],
    [files.setAside, 'set aside'],
  ]
  const present = parts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  return known === 0 ? 'none known' : `${known} known: ${present.join(', ')}`
}

function describeRemote(remote: RemoteFinding | undefined): Fields {
  if (!remote) return {}
  return { 'in the library': remote.error ?? (remote.paths.join(', ') || 'the service does not show its path') }
}

function describeHistory({ uploads, history, movedTo }: PathExplanation, times: Times): Fields {
  const sent = uploads.map(({ attempt, begunAt, outcome, path, message }) => {
    const ended = outcome === null ? 'cut off' : OUTCOME_WORDS[outcome]
    const text = `${times.format(begunAt)} ${ended}, from ${path}${message === null ? '' : `: ${message}`}`
    return [`upload ${attempt}`, text] as const
  })
  // The last content of a moved file is not an earlier version, because another path has it now.
  const versions = movedTo.length > 0 ? history.slice(0, -1) : history
  const earlier = versions.map((version, index) => {
    const { resourceId, endedAt, reason } = version
    const label = versions.length === 1 ? 'earlier version' : `earlier version ${index + 1}`
    const until = `until ${times.format(endedAt)}: ${describeEnd(reason, version)}`
    return [label, `${resourceId ?? 'never stored'}, ${until}`] as const
  })
  return Object.fromEntries([...sent, ...earlier])
}
