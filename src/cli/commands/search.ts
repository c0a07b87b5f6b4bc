import { basename, isAbsolute } from 'node:path'
import { isThere } from '../../app/files/paths-on-disk.ts'
import { parseLibraryTarget, requireLibrary } from '../../app/library-target.ts'
import { choosePath } from '../../app/mirrors/choose-path.ts'
import { nothingMirrored } from '../../app/mirrors/choose-stored.ts'
import type { OpenedService } from '../../app/service-client/open-service.ts'
import { KIND_NAMES, kindOf, typeMatcher } from '../../contract/kinds.ts'
import { UsageError } from '../../foundation/errors.ts'
import { withTilde } from '../../foundation/files/home.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { counted, escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { formatDay, formatDayAndTime, isoTime, parseMoment } from '../../foundation/text/times.ts'
import { formatSize, parseDuration } from '../../foundation/text/units.ts'
import type { SearchRequest, ServiceClient } from '../../remote/service-client.ts'
import { type HitFacts, type HitVersion, SEARCH_ORDERS, type SearchFilter } from '../../rules/search-filter.ts'
import { keepSearch, takeNotice } from '../../store/last-search.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import type { MirrorPath } from '../../store/tables/sent-resources.ts'
import {
  describeProcessing,
  type FilteredHit,
  type FilteredSearch,
  searchFiltered,
  sentFinder,
} from '../../sync/filtered-search.ts'
import { originMismatch } from '../../sync/pin/pinned-service.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import { wrapText } from '../render/layout.ts'

const PAGE_SIZE = 10

export const command = defineCommand({
  description: [
    'The results are ranked candidates, not verified answers. Each is the present version of a document, with the path of its file;',
    '"shelfd open" opens it by its number. Earlier versions and documents without a file are left out unless --all-versions is given.',
    'When the service comments on the search, one sentence of this is printed on stderr, each at most once a day.',
    '',
    'Services cannot search by directory, type or date. So shelfd filters their best candidates, up to a thousand if the service lists',
    'so many, by what it knows about the files that it sent, or else by what the service says about the resource. It says when there may',
    'be more results. The date is that of the last change of the file, or that of the upload if no file is here. In a directory or',
    'mirror, only files that are there now are found, and no earlier versions.',
  ].join('\n'),
  positionals: { query: { type: 'string', required: true, array: true, describe: 'What to look for' } },
  options: {
    library: {
      type: 'string',
      array: true,
      completes: 'libraries',
      describe: 'Only in this library; may be given several times',
    },
    in: {
      type: 'string',
      placeholder: 'DIR|MIRROR|LIBRARY:/path',
      describe: 'Only in this mirror, this directory of a mirror, or this directory of a library',
    },
    type: {
      type: 'string',
      array: true,
      placeholder: 'TYPE',
      describe:
        'Only this type: an extension, a MIME type such as image/*, or a kind such as picture, table, slides, e-mail',
    },
    since: {
      type: 'string',
      placeholder: 'DATE',
      describe: 'Last changed on this day or later; 7d means at most 7 days ago',
    },
    before: { type: 'string', placeholder: 'DATE', describe: 'Last changed before this day' },
    sort: { type: 'string', choices: SEARCH_ORDERS, describe: 'The order of the results, by default the best first' },
    strategy: { type: 'string', describe: 'lexical matches terms without asking an AI provider' },
    limit: { type: 'number', bounds: wholeNumber(1, 1_000), describe: `Candidates on a page, ${PAGE_SIZE} by default` },
    page: {
      type: 'number',
      bounds: wholeNumber(1, 1_000),
      describe: 'Number of the page to list',
    },
    compact: { type: 'boolean', describe: 'Without abstracts and excerpts' },
    'all-versions': { type: 'boolean', describe: 'Also earlier versions, and documents without a file' },
    notices: { type: 'boolean', describe: 'Print everything that the service says about the search' },
  },
  ...ASKS_SERVICE,
  examples: [
    ['search "solar sails"', 'in every readable library'],
    ['search --page 2 "solar sails"', 'the next page'],
    ['search sails --in ~/Papers/2026 --type pdf', 'in the PDF files of a directory'],
    ['search sails --since 2026-01-01 --sort newest', 'in what changed this year, the last changed first'],
    ['search --library Research --strategy lexical --json sails', 'as JSON, with all that is known'],
  ],
  async run(context, args) {
    const { limit: size = PAGE_SIZE, page = 1 } = args
    const window = { page, start: size * (page - 1), end: size * page }
    const asked = readFilter(args)
    const query = args.query.join(' ')
    if (query.trim() === '') throw new UsageError('bad-usage', 'Cannot search for nothing: give a word to look for')
    assertAnythingToSearch(context)
    await using service = await context.openService()
    const request = {
      query,
      libraryIds: await findIds(service.client, args.library, context.signal),
      ...(args.strategy !== undefined && { strategy: args.strategy }),
      ...(args.compact && { outputFormat: 'compact' as const }),
    }
    await listHits({ request, asked, scope: args.in, allNotices: args.notices }, window, { context, service })
  },
})

/** Throws UsageError if there is no state and no library on this computer: opening the service would create both. */
function assertAnythingToSearch({ settings: { service, stateDir } }: CommandContext): void {
  if (service.kind === 'configured' || isThere(service.dataDir)) return
  using store = openStoreReader(stateDir)
  if (!store) throw nothingMirrored()
}

interface Window {
  readonly page: number
  /** The number of hits on earlier pages. */
  readonly start: number
  readonly end: number
}

interface SearchContext {
  readonly context: CommandContext
  readonly service: OpenedService
}

interface FilterArguments {
  readonly in: string | undefined
  readonly library: readonly string[]
  readonly type: readonly string[]
  readonly since: string | undefined
  readonly before: string | undefined
  readonly sort: SearchFilter['order'] | undefined
  readonly allVersions: boolean
}

type AskedFilter = Omit<SearchFilter, 'place'>

/** Reads the filter from the flags. Throws UsageError for a wrong value. */
function readFilter({ in: place, library, type, since, before, sort, allVersions }: FilterArguments): AskedFilter {
  if (place !== undefined && library.length > 0)
    throw new UsageError('bad-usage', 'Give --in or --library: what --in names lies in one library')
  const matchers = type.map((word) => {
    const matcher = typeMatcher(word)
    if (matcher) return matcher
    const kinds = KIND_NAMES.map((kind) => `"${kind.toLowerCase()}"`).join(', ')
    const expected = `an extension that shelfd knows, a MIME type, or one of ${kinds}`
    throw new UsageError('bad-usage', `Cannot use "${word}" for --type: it must be ${expected}`)
  })
  const [sinceMs, beforeMs] = [readDate('--since', since), readDate('--before', before)]
  const isType = matchers.length === 0 ? null : (mime: string) => matchers.some((matches) => matches(mime))
  const versions = allVersions ? 'all' : 'current'
  return { versions, isType, sinceMs, beforeMs, order: sort ?? 'relevance' }
}

function readDate(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const agoMs = parseDuration(text)
  const timeMs = agoMs === undefined ? parseMoment(text) : Date.now() - agoMs
  if (timeMs !== undefined) return timeMs
  const expected = 'a day such as 2026-01-31, with a time such as "2026-01-31 14:05", or a duration such as 7d'
  throw new UsageError('bad-usage', `Cannot use "${text}" for ${flag}: it must be ${expected}`)
}

interface FilteredRequest {
  readonly request: SearchRequest & Required<Pick<SearchRequest, 'libraryIds'>>
  readonly asked: AskedFilter
  /** The value of `--in`. */
  readonly scope: string | undefined
  readonly allNotices: boolean
}

async function listHits(
  { request, asked, scope: scopeText, allNotices }: FilteredRequest,
  window: Window,
  { context, service }: SearchContext,
): Promise<void> {
  using store = openStoreReader(context.settings.stateDir)
  const scope = scopeText === undefined ? undefined : await findScope(scopeText, { context, service }, store)
  const libraryIds = scope ? [scope.libraryId] : request.libraryIds
  const found = await searchFiltered(
    { ...request, libraryIds },
    {
      client: service.client,
      filter: { ...asked, place: scope?.inFilter ?? null },
      wanted: window.end + 1,
      findSent: sentFinder(store, service.identity, scope?.inMirror ?? null),
      signal: context.signal,
    },
  )
  const { hits, notice, candidates, isComplete, undecided, outdated } = found
  const processing = store?.sentResources.countProcessing(service.identity, libraryIds) ?? 0
  const shown = hits.slice(window.start, window.end)
  const { settings, json } = context
  if (store) keepSearch(settings.stateDir, window.start, shown)
  if (json) {
    const results = shown.map(({ resource, facts }) => ({ resource, facts: factsJson(facts) }))
    const filter = { matched: hits.length, candidates, isComplete, undecided, outdated, processing }
    return context.printJson({ notice, results, filter })
  }
  for (const [index, hit] of shown.entries()) printHit(hit, window.start + index + 1, context)
  printPageBounds({ found: hits.length, isAll: isComplete, order: asked.order }, window, context)
  describeBounds(found, processing).forEach((line) => void context.printMessage(line))
  printNotice(allNotices ? notice : takeNotice(settings.stateDir, notice, Date.now()), context)
}

interface SearchScope {
  readonly libraryId: string
  readonly inFilter: SearchFilter['place']
  readonly inMirror: MirrorPath | null
}

async function findScope(
  word: string,
  { context, service }: SearchContext,
  store: StoreReader | undefined,
): Promise<SearchScope> {
  if (word.includes(':/') && !isAbsolute(word) && !/^[.~]/.test(word)) {
    const { library, path: libraryPath = '/' } = parseLibraryTarget(word)
    const { id: libraryId } = await requireLibrary(service.client, library, context.signal)
    return { libraryId, inFilter: { isLocal: false, libraryPath }, inMirror: null }
  }
  const { row, path } = choosePath(context.settings, store, { word, cwd: context.io.cwd })
  if (row.library.origin !== service.identity) throw originMismatch(row, service)
  return { libraryId: row.library.remoteId, inFilter: { isLocal: true }, inMirror: { mirror: row.name, path } }
}

function factsJson({ mime, sizeBytes, dateMs, earlier, libraryPaths: _, ...facts }: HitFacts) {
  const earlierVersions = earlier && { count: earlier.count, newest: isoTime(earlier.newestMs) }
  return { mime, size: sizeBytes, date: isoTime(dateMs), ...facts, earlierVersions }
}

const MAX_EXCERPT = 400
const INDENT = '   '

/** Functions that return the line about the version of a hit; `file` is the path of its last file, or '' if the state has none. */
const VERSIONS: Readonly<Record<HitVersion, (file: string) => string>> = {
  current: (file) => (file === '' ? '' : `moved from ${file}`),
  waiting: (file) => `! ${file} has changed, and its present text cannot be found yet`,
  earlier: (file) => (file === '' ? '^ an earlier version' : `^ an earlier version of ${file}`),
  gone: (file) => `^ its file is gone: ${file}`,
  'left-out': (file) => `^ its file is left out now: ${file}`,
}

/** Prints a hit: the present path of its file, its type, size and date, its path in the library, and the best excerpt. */
function printHit({ title, resource, facts }: FilteredHit, number: number, context: CommandContext): void {
  const { printText: print, io, verbosity } = context
  const line = (text: string, style?: 'quiet' | 'heading') => void print(INDENT + escapeText(text), style)
  const path = (absolute: string) => withTilde(io.home, absolute)
  const [file, ...copies] = facts.files
  const name = file === undefined || basename(file) !== title ? title : path(file)
  print(escapeText(`${number}  ${name}`), 'heading')
  if (file !== undefined && name === title) line(path(file))
  line(describeFacts(facts, libraryPathOf(resource)), 'quiet')
  const version = VERSIONS[facts.version](facts.formerFile === null ? '' : path(facts.formerFile))
  if (version !== '') line(version)
  if (copies.length > 0) line(`same content: ${copies.map(path).join(', ')}`, 'quiet')
  const [shown] = (resource.assets ?? []).filter((asset) => asset.excerpt ?? asset.text)
  const excerpt = shown?.excerpt ?? shown?.text
  if (excerpt) print(INDENT + escapeText(truncateText(excerpt.replace(/\s+/g, ' '), MAX_EXCERPT)), 'excerpt')
  const { earlier } = facts
  if (earlier) line(`${counted(earlier.count, 'earlier version')}, newest ${formatDay(earlier.newestMs)}`, 'quiet')
  if (verbosity > 0) line(`resource ${resource.id}`, 'quiet')
}

/** Returns a line such as `PDF, 1.2 MiB, changed 2026-01-31 14:05 · Research:/Papers/sails.pdf`. */
function describeFacts({ mime, sizeBytes, dateMs, files }: HitFacts, libraryPath: string): string {
  const date = dateMs === null ? undefined : `${files.length === 0 ? 'added' : 'changed'} ${formatDayAndTime(dateMs)}`
  const kind = mime === null ? undefined : kindOf(mime)
  const size = sizeBytes === null ? undefined : formatSize(sizeBytes)
  const facts = [kind, size, date].filter((each) => each !== undefined).join(', ')
  return [facts, libraryPath].filter((each) => each !== '').join(' · ')
}

function libraryPathOf({ library, paths = [] }: FilteredHit['resource']): string {
  const { name } = (library ?? {}) as { readonly name?: unknown }
  const [path = ''] = paths
  return typeof name === 'string' ? `${name}:${path}` : path
}

/** Returns sentences about the documents that the service cannot find yet, or that the filter did not check or left out. */
function describeBounds({ candidates, isComplete, undecided, outdated }: FilteredSearch, processing: number): string[] {
  const more = 'there may be more that fit: further words, --library or --in find them'
  return [
    ...(isComplete
      ? []
      : [`The service lists its best ${candidates} documents, and only these were looked at; ${more}`]),
    ...(outdated === 0 ? [] : [`Left out ${counted(outdated, 'hit')} without a file here; --all-versions shows all`]),
    ...(undecided === 0
      ? []
      : [`Left out ${counted(undecided, 'document')}, as neither shelfd nor the service knows the type, date or path`]),
    ...describeProcessing(processing),
  ]
}

async function findIds(client: ServiceClient, names: readonly string[], signal: AbortSignal): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await requireLibrary(client, name, signal)).id)
  return ids
}

interface PageBounds {
  readonly found: number
  /** Whether the search found no more than these. */
  readonly isAll: boolean
  readonly order: SearchFilter['order']
}

const ORDER_WORDS: Readonly<Record<SearchFilter['order'], string>> = {
  relevance: 'the best first',
  newest: 'the last changed first',
  oldest: 'the longest unchanged first',
  name: 'by name',
  largest: 'the largest first',
}

function printPageBounds(
  { found, isAll, order }: PageBounds,
  { page, start, end }: Window,
  context: CommandContext,
): void {
  const { printText: print, printMessage } = context
  if (found === 0) print('Nothing matched')
  else if (found <= start) print(`Nothing on page ${page}: the search found ${found}`)
  const last = Math.min(found, end)
  const more = found > last ? `, ${ORDER_WORDS[order]}; more with --page ${page + 1}` : isAll ? ', the last ones' : ''
  if (found > start && (found > last || page > 1)) printMessage(`${start + 1} to ${last}${more}`)
}

function printNotice(notice: string, { printMessage, columns, io: { asTyped = String } }: CommandContext): void {
  const text = asTyped(escapeText(notice))
  if (text !== '') printMessage(columns === undefined ? text : wrapText(text, columns), 'quiet')
}
