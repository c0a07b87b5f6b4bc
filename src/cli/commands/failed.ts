import { join } from 'node:path'
import { changeStore } from '../../app/ask-daemon.ts'
import { choosePath } from '../../app/mirrors/choose-path.ts'
import { UsageError } from '../../foundation/errors.ts'
import { isWithin, nameOf, parentOf } from '../../foundation/files/paths.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { patternOfPath } from '../../local/ignore/ignore-rule.ts'
import { canBeSetAside, HOW_TO_SET_ASIDE } from '../../rules/path-problems.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import { describeWithoutText } from '../../rules/without-text.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import {
  type FailedPath,
  type Failures,
  listFailedPaths,
  listQuarantine,
  type Quarantined,
  type QuarantinedFile,
  retryFailures,
  setFailuresAside,
} from '../../sync/operator/quarantine.ts'
import { readStatus } from '../../sync/report/status-of-mirrors.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { fitsTable, renderFields } from '../render/layout.ts'
import { FLEET_FLAGS, type HostProblem, isOfFleet, readFleetFailures, withHost } from '../show-fleet.ts'

/** The positional of commands that change quarantined contents. */
const QUARANTINED = {
  type: 'string',
  array: true,
  describe: 'Files, directories, or beginnings of a SHA-256',
  placeholder: 'PATH|SHA256',
} as const

export const listCommand = defineCommand({
  description: [
    'Lists refused uploads, and resources whose ingestion ended partial, failed or unknown, with one row for each content, however many',
    'files have it. shelfd tries each again at growing intervals. With --all, it also lists the files and paths that "failed ignore"',
    'set aside. Other problems, such as unreadable files, are shown by "status" and "report".',
  ].join('\n'),
  options: { all: { type: 'boolean', describe: 'Also list what was set aside' }, ...FLEET_FLAGS },
  examples: [
    ['failed list', 'what went wrong, since when, and when it is tried again'],
    ['failed list --all --json', 'the same for scripts, with what was set aside'],
    ['failed list --fleet', 'what went wrong at all hosts that share a ledger'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { all, ...flags }) {
    if (isOfFleet(flags)) {
      const found = (await readFleetFailures(context, flags)).filter(({ content }) => all || !content?.isSetAside)
      if (context.json) context.printJson({ contents: found.map(withHost) })
      else if (found.length > 0) showRows(context, ['host', ...HEADINGS], found.map(hostRow))
      else context.printMessage('No host has reported a failed file')
      return
    }
    const failures = { contents: readQuarantine(context), paths: readFailedPaths(context) }
    const contents = failures.contents.filter(({ isSetAside }) => all || !isSetAside)
    const paths = all ? failures.paths.filter(({ isSetAside }) => isSetAside) : []
    if (context.json) {
      context.printJson({ contents: contents.map(quarantinedJson), ...(all && { paths }) })
      return
    }
    const rows = [...contents.map(quarantinedRow), ...paths.map(pathRow)]
    if (rows.length > 0) showRows(context, HEADINGS, rows)
    const others = countOthers(context, contents)
    const setAside = [...failures.contents, ...failures.paths].filter(({ isSetAside }) => isSetAside && !all).length
    const notes = [
      ...(others === 0
        ? []
        : [`there ${others === 1 ? 'is' : 'are'} ${counted(others, 'other problem')}: shelfd status`]),
      ...(setAside === 0 ? [] : [`${setAside} ${setAside === 1 ? 'was' : 'were'} set aside: shelfd failed --all`]),
    ].join('; ')
    if (rows.length === 0) {
      const nothing = others === 0 ? 'Nothing is in quarantine' : 'No upload failed'
      context.printMessage(notes === '' ? nothing : `${nothing}; ${notes}`)
    } else if (notes !== '') context.printMessage(`Besides, ${notes}`)
    if (contents.some(({ isSetAside }) => !isSetAside)) context.printMessage(HOW_TO_SET_ASIDE)
  },
})

/** Counts problems that only `status` lists, so that they are not overlooked. */
function countOthers({ settings }: CommandContext, listed: readonly Quarantined[]): number {
  using store = openStoreReader(settings.stateDir)
  const keyOf = (mirror: string, path: string) => `${mirror}\0${path}`
  const keys = new Set(listed.flatMap(({ files }) => files.map(({ mirror, path }) => keyOf(mirror, path))))
  const mirrors = store ? readStatus(store) : []
  return mirrors.flatMap(({ name, problems }) => problems.filter(({ path }) => !keys.has(keyOf(name, path)))).length
}

export const showCommand = defineCommand({
  positionals: {
    content: {
      type: 'string',
      required: true,
      describe: 'A file, a directory, or the beginning of a SHA-256',
      placeholder: 'PATH|SHA256',
    },
  },
  examples: [
    ['failed show ~/Papers/scan.pdf', 'why this file is not searchable'],
    ['failed show 9f86d081884c --json', 'by its content, for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context, { content }) {
    const { contents: found } = findFailures(context, [content], () => false)
    if (context.json) context.printJson({ contents: found.map(quarantinedJson) })
    else context.printText(found.map(renderQuarantined).join('\n\n'))
  },
})

export const retryCommand = defineCommand({
  description: [
    'Ends the quarantine of files: the next run tries them again, and a running daemon does so at once. A refused file is sent again; a',
    'resource whose ingestion failed is polled again. This also undoes "failed ignore", for paths as well.',
  ].join('\n'),
  positionals: { contents: QUARANTINED },
  options: { all: { type: 'boolean', describe: 'All files in quarantine that were not set aside' } },
  examples: [
    ['failed retry ~/Papers/scan.pdf', 'after the service was fixed'],
    ['failed retry --all', 'everything that "failed list" lists'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { contents, all }) {
    if (all === contents.length > 0) throw new UsageError('bad-usage', 'Name files, or give --all')
    const named = all
      ? failuresOf({ contents: readQuarantine(context).filter(({ isSetAside }) => !isSetAside), paths: [] })
      : failuresOf(findFailures(context, contents, ({ isSetAside }) => isSetAside))
    const count = await changeStore(context.settings.stateDir, {
      askDaemon: (daemon) => daemon.retry(named),
      changeStore: (store) => retryFailures(store, named),
    })
    if (context.json) context.printJson({ due: count })
    else context.printMessage(`Due now: ${counted(count, 'file')}`)
  },
})

export const ignoreCommand = defineCommand({
  description: [
    'shelfd does not try these files again, and no run fails because of them; the report still shows them. Only their present content is',
    'set aside: a file that changes is sent. "failed retry" undoes this.',
    '',
    'A path that cannot be read or sent (no permission, too large, a name that is not UTF-8) can be set aside as well. Each scan still',
    'looks at it, and the file is sent once it can be read; if the path has a problem of another kind, runs fail because of it again.',
  ].join('\n'),
  positionals: { contents: QUARANTINED },
  examples: [
    ['failed ignore ~/Papers/broken.pdf', 'do not try this file again'],
    ['failed ignore ~/Papers/private', 'no run fails because this directory cannot be read'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { contents }) {
    if (contents.length === 0) throw new UsageError('bad-usage', 'Name the files to set aside')
    const named = failuresOf(findFailures(context, contents, ({ code }) => canBeSetAside(code)))
    const count = await changeStore(context.settings.stateDir, {
      askDaemon: (daemon) => daemon.ignore(named),
      changeStore: (store) => setFailuresAside(store, named),
    })
    if (context.json) context.printJson({ setAside: count })
    else context.printMessage(`Set aside: ${counted(count, 'file')}; "shelfd failed retry" undoes this`)
  },
})

/** The shortest accepted prefix of a SHA-256. */
const MIN_PREFIX = 6

function readQuarantine({ settings }: CommandContext): Quarantined[] {
  using store = openStoreReader(settings.stateDir)
  return store ? listQuarantine(store) : []
}

function readFailedPaths({ settings }: CommandContext): FailedPath[] {
  using store = openStoreReader(settings.stateDir)
  return store ? listFailedPaths(store) : []
}

interface FoundFailures {
  readonly contents: readonly Quarantined[]
  readonly paths: readonly FailedPath[]
}

function failuresOf({ contents, paths }: FoundFailures): Failures {
  return {
    contentIds: contents.map(({ contentId }) => contentId),
    paths: paths.map(({ mirror, path }) => ({ mirror, path })),
  }
}

/** Finds contents by file, directory or prefix of a SHA-256, and the paths that pass `accepts`. Throws UsageError for other words. */
function findFailures(
  context: CommandContext,
  words: readonly string[],
  accepts: (failed: FailedPath) => boolean,
): FoundFailures {
  using store = openStoreReader(context.settings.stateDir)
  const all = {
    contents: store ? listQuarantine(store) : [],
    paths: store ? listFailedPaths(store).filter(accepts) : [],
  }
  const named = words.map((word) => findByWord(context, store, all, word))
  const [contents, paths] = [
    new Set(named.flatMap((found) => found.contents)),
    new Set(named.flatMap((found) => found.paths)),
  ]
  return {
    contents: all.contents.filter((content) => contents.has(content)),
    paths: all.paths.filter((path) => paths.has(path)),
  }
}

function findByWord(
  { io, settings }: CommandContext,
  store: StoreReader | undefined,
  { contents, paths }: FoundFailures,
  word: string,
): FoundFailures {
  const bySha256 = isPrefix(word) ? contents.filter(({ sha256 }) => sha256.startsWith(word.toLowerCase())) : []
  if (bySha256.length > 0) return { contents: bySha256, paths: [] }
  const { row, path } = choosePath(settings, store, { word, cwd: io.cwd })
  const isNamed = (file: QuarantinedFile) => file.mirror === row.name && isWithin(path, file.path)
  const byPath = { contents: contents.filter(({ files }) => files.some(isNamed)), paths: paths.filter(isNamed) }
  if (byPath.contents.length + byPath.paths.length > 0) return byPath
  const problem = store?.problems.find(row.id, path)
  if (problem) {
    const cause = `its problem is "${problem.message}" [${problem.code}]`
    throw new UsageError('bad-usage', `Cannot find "${word}" in the quarantine: ${cause}; "shelfd why" shows all of it`)
  }
  const file = store?.report.listFiles(row.id, parentOf(path)).find(({ name }) => name === nameOf(path))
  const withoutText = file && describeWithoutText(file.ingestionNote, file)
  if (withoutText !== undefined) {
    const rule = `a line "${patternOfPath(path)}" in "${join(row.path, '.shelfdignore')}" leaves it out`
    const cause = `it is ${withoutText}, which is not a failure`
    throw new UsageError('bad-usage', `Cannot find "${word}" in the quarantine: ${cause}; ${rule}`)
  }
  throw new UsageError('bad-usage', `Cannot find "${word}" in the quarantine; "shelfd failed list" shows what is in it`)
}

function isPrefix(word: string): boolean {
  return word.length >= MIN_PREFIX && /^[0-9a-f]{1,64}$/i.test(word)
}

const SHA256_DIGITS = 12

const HEADINGS = ['path', 'code', 'message', 'since', 'next try', 'sha256']

function showRows(
  { printText, printTable, columns }: CommandContext,
  headings: readonly string[],
  rows: string[][],
): void {
  if (fitsTable(headings, rows, columns)) printTable(headings, rows)
  else for (const row of rows) printText(renderBlock(row))
}

function quarantinedRow(content: Quarantined): string[] {
  const { code, message, since, sha256 } = content
  return [pathOf(content), code, message, localTime(since), describeNextTry(content), sha256.slice(0, SHA256_DIGITS)]
}

/** Returns the row of a path that was set aside, which has no content. */
function pathRow({ root, path, code, message, since }: FailedPath): string[] {
  return [join(root, path), code, message, localTime(since), 'with each scan: set aside', '']
}

function hostRow({ host, mirror, path, code, message, content }: HostProblem): string[] {
  const { files = 1, since = null, sha256 = '' } = content ?? {}
  const more = files === 1 ? '' : ` (and ${files - 1} more)`
  const { isSetAside = false, retryAt = null, stage = 'upload' } = content ?? {}
  const next = describeNextTry({ isSetAside, retryAt, stage })
  return [host, `${mirror}: ${path}${more}`, code, message, localTime(since), next, sha256.slice(0, SHA256_DIGITS)]
}

function renderBlock(row: readonly string[]): string {
  const [next = '', since = '', message = '', code = '', ...where] = row.toReversed().slice(1)
  const begun = since === '' ? '' : `since ${since}; `
  return [
    escapeText(where.toReversed().join(': ')),
    `  ${escapeText(message)} [${code}]`,
    `  ${begun}next try ${next}`,
  ].join('\n')
}

function renderQuarantined(content: Quarantined): string {
  const { sha256, mime, sizeBytes, stage, resourceId, code, message, tries, since, files } = content
  const paths = files.map(({ root, path }, index) => [`file ${index + 1}`, join(root, path)] as const)
  return renderFields({
    ...Object.fromEntries(paths),
    sha256,
    'MIME type': mime,
    size: formatSize(sizeBytes),
    failed: stage === 'upload' ? 'the upload' : 'the ingestion of the resource',
    resource: resourceId,
    problem: `${message} [${code}]`,
    tries,
    since: localTime(since),
    'next try': describeNextTry(content),
  })
}

/** Leaves out the number by which only the store knows the content. */
function quarantinedJson({ contentId: _, ...content }: Quarantined) {
  return content
}

function pathOf({ files }: Quarantined): string {
  const [first] = files
  if (!first) return ''
  const more = files.length === 1 ? '' : ` (and ${files.length - 1} more)`
  return `${join(first.root, first.path)}${more}`
}

function describeNextTry({
  isSetAside,
  retryAt,
  stage,
}: Pick<Quarantined, 'isSetAside' | 'retryAt' | 'stage'>): string {
  if (isSetAside) return 'never: set aside'
  if (retryAt === null && stage === 'ingestion') return 'when it changes'
  const isDue = retryAt === null || quarantineLeftMs(Date.parse(retryAt), Date.now()) === 0
  return isDue ? 'with the next run' : localTime(retryAt)
}

function localTime(iso: string | null): string {
  return iso === null ? '' : timeOfDay(Date.parse(iso), Date.now())
}
