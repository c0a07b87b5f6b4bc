import { ShelfdError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { inspectRoot } from '../../local/read/open-and-recheck-root.ts'
import { readVerified } from '../../local/read/read-verified.ts'
import type { SummaryProblem } from '../../rules/sync-summary.ts'
import type { SearchableText } from '../../store/tables/ingestion.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { ReportContext } from './report.ts'

const MAX_SEARCHES = 5
const MAX_READ = 50
const MAX_BYTES = 262_144
/** A phrase that this many documents have identifies none of them. */
const MAX_RESULTS = 50

interface SearchCheck {
  readonly tried: number
  readonly problems: readonly SummaryProblem[]
}

/**
 * Searches for a phrase from some documents that the run made searchable. A document that is not found is a problem; an error of the
 * service ends the check.
 */
export async function verifySearch(context: ReportContext, mirrorName: string, runId: number): Promise<SearchCheck> {
  const problems: SummaryProblem[] = []
  let tried = 0
  const row = context.store.mirrors.findByName(mirrorName)
  const texts = row ? context.store.contents.listSearchableTexts(runId, row.id, MAX_BYTES, MAX_READ) : []
  for (const document of texts) {
    if (row === undefined || tried === MAX_SEARCHES) break
    const phrase = readPhrase(context, row, document)
    if (phrase === undefined) continue
    tried += 1
    const problem = await searchFor(context, row, document, phrase)
    if (problem) problems.push(problem)
    if (problem && problem.code !== MISSED) break
  }
  return { tried, problems }
}

const MISSED = 'search-missed'

async function searchFor(
  { service, signal }: ReportContext,
  { library }: MirrorRow,
  { path, resourceId }: SearchableText,
  phrase: string,
): Promise<SummaryProblem | undefined> {
  try {
    const { client } = await service.connect(signal)
    const search = { query: `"${phrase}"`, libraryIds: [library.remoteId], strategy: 'lexical', limit: MAX_RESULTS }
    const { results } = await client.searchResources(search, signal)
    if (results.some(({ resource }) => resource.id === resourceId) || results.length === MAX_RESULTS) return undefined
    const message = `the service reports it as searchable, but a search for "${escapeText(phrase)}" does not find it`
    return { path, code: MISSED, message, retryAt: null }
  } catch (error) {
    if (!(error instanceof ShelfdError) || error.kind === 'interrupted') throw error
    return { path, code: error.code, message: error.message, retryAt: null }
  }
}

/** Undefined when the file changed, is no UTF-8 or has no phrase. */
function readPhrase({ fs }: ReportContext, row: MirrorRow, { path, sha256, size }: SearchableText): string | undefined {
  try {
    const root = inspectRoot(fs, row.path)
    const bytes = readVerified(fs, root, path, { sha256, sizeBytes: size }, { wholeBytes: MAX_BYTES })
    return bytes instanceof Uint8Array
      ? choosePhrase(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
      : undefined
  } catch (error) {
    if (error instanceof ShelfdError || error instanceof TypeError) return undefined
    throw error
  }
}

const MAX_WORDS_OF_PHRASE = 6
const MAX_WORD = 20
/** A phrase is searched for within this part of a text. */
const MAX_CHARACTERS = 65_536

/** Two or more words of letters with one blank between them, which no mark joins to further words or numbers. */
const RUN_OF_WORDS =
  /(?<![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’.@/\\])[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)+(?![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’@/\\]|\.[\p{L}\p{N}])/gu

/** Returns the longest run of up to six words without marks and line ends, which services treat differently; undefined without one. */
export function choosePhrase(text: string): string | undefined {
  const shown = text.slice(0, MAX_CHARACTERS).replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '\n')
  let longest: string | undefined
  for (const [run] of shown.matchAll(RUN_OF_WORDS)) {
    const words = run.split(' ').slice(0, MAX_WORDS_OF_PHRASE)
    const phrase = words.join(' ')
    if (words.some((word) => word.length > MAX_WORD) || phrase.length <= (longest?.length ?? 0)) continue
    longest = phrase
  }
  return longest
}

const MAX_FILES = 200
const MAX_TRIES = 3
const MAX_WORDS = 3
const MIN_WORD = 4

/** Returns words from file names that find something in the library; undefined if none of a few tries does. */
export async function suggestSearch(context: ReportContext, mirrorName: string): Promise<string | undefined> {
  const row = context.store.mirrors.findByName(mirrorName)
  if (!row) return undefined
  const names: string[] = []
  for (const { name } of context.store.report.iterateFiles(row.id)) {
    names.push(name)
    if (names.length === MAX_FILES) break
  }
  const queries = [...new Set(names.map(wordsOfName).filter((words) => words !== ''))]
  // Several words in a row describe a document better than one.
  queries.sort((a, b) => Number(b.includes(' ')) - Number(a.includes(' ')))
  for (const query of queries.slice(0, MAX_TRIES)) {
    if (await findsSomething(context, row.library.remoteId, query)) return query
  }
  return undefined
}

/** Names that announce a secret, in the languages of most users. */
const SENSITIVE =
  /pass(?:wor[dt]|phrase|wd)|kennwort|secret|geheim|token|credential|api.?key|private|\bkey|\bpin\b|salary|gehalt/i

/** Capitals and small letters mixed as in generated words, such as `xQzRkT`. */
function looksMade(word: string): boolean {
  return /\p{Ll}\p{Lu}.*\p{Ll}\p{Lu}|\p{Lu}{2,}\p{Ll}+\p{Lu}/u.test(word) || /[bcdfghjklmnpqrstvwxz]{6,}/i.test(word)
}

function wordsOfName(name: string): string {
  const [stem = ''] = /^.+(?=\.)|^.+/.exec(name) ?? []
  if (SENSITIVE.test(stem)) return ''
  const words = stem.split(/[^\p{L}\p{N}]+/u).filter((word) => /^\p{L}+$/u.test(word) && !looksMade(word))
  return words.some(({ length }) => length >= MIN_WORD) ? words.slice(0, MAX_WORDS).join(' ') : ''
}

/** Errors count as nothing found, because a suggestion must not fail a command. */
async function findsSomething({ service, signal }: ReportContext, libraryId: string, query: string): Promise<boolean> {
  try {
    const { client } = await service.connect(signal)
    const request = { query, libraryIds: [libraryId], strategy: 'lexical', limit: 1 }
    return (await client.searchResources(request, signal)).results.length > 0
  } catch (error) {
    if (error instanceof ShelfdError && error.kind !== 'interrupted') return false
    throw error
  }
}
