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
/** If a search has this many results, the phrase does not identify a document. */
const MAX_RESULTS = 50

/** Searches for a phrase of some documents that the run made searchable. One that is not found is a problem. */
export async function verifySearch(context: ReportContext, mirrorName: string, runId: number) {
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

/** Returns undefined if the file has changed, is no UTF-8 or has no phrase. */
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
/** Phrases are chosen from this many characters at the beginning of a text. */
const MAX_CHARACTERS = 65_536

/** Matches two or more words of letters, separated by one space each, unless a mark joins them to another word or number. */
const RUN_OF_WORDS =
  /(?<![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’.@/\\])[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)+(?![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’@/\\]|\.[\p{L}\p{N}])/gu

/** Returns the longest run of up to six words, or undefined. It has no marks and line ends, because services treat them differently. */
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

/** Returns words of a file name that find something in the library; undefined if a few tries find nothing. */
export async function suggestSearch(context: ReportContext, mirrorName: string): Promise<string | undefined> {
  const row = context.store.mirrors.findByName(mirrorName)
  if (!row) return undefined
  const names: string[] = []
  for (const { name, size } of context.store.report.iterateFiles(row.id)) {
    if (size > 0) names.push(name)
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

/** Matches file names that suggest a secret, in the languages of most users. */
const SENSITIVE =
  /pass(?:wor[dt]|phrase|wd)|kennwort|secret|geheim|token|credential|api.?key|private|\bkey|\bpin\b|salary|gehalt/i

/** Returns whether a word mixes capitals and small letters, or has many consonants in a row, such as `xQzRkT`. */
function looksGenerated(word: string): boolean {
  return /\p{Ll}\p{Lu}.*\p{Ll}\p{Lu}|\p{Lu}{2,}\p{Ll}+\p{Lu}/u.test(word) || /[bcdfghjklmnpqrstvwxz]{6,}/i.test(word)
}

function wordsOfName(name: string): string {
  const [stem = ''] = /^.+(?=\.)|^.+/.exec(name) ?? []
  if (SENSITIVE.test(stem)) return ''
  const words = stem.split(/[^\p{L}\p{N}]+/u).filter((word) => /^\p{L}+$/u.test(word) && !looksGenerated(word))
  return words.some(({ length }) => length >= MIN_WORD) ? words.slice(0, MAX_WORDS).join(' ') : ''
}

/** Returns false also after an error, because a suggestion must not fail a command. */
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
