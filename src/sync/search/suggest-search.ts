import { ShelfdError } from '../../foundation/errors.ts'
import type { ReportContext } from '../report/report.ts'

/** The most names of files that are read, searches that are tried, and words in one search. */
const MOST_FILES = 200
const MOST_TRIES = 3
const MOST_WORDS = 3
const SHORTEST_WORD = 4

/**
 * Returns words that find something in a mirror's library, taken from the names of its files, which services search as well.
 * Undefined when none of a few tries found anything.
 */
export async function suggestSearch(context: ReportContext, mirrorName: string): Promise<string | undefined> {
  const row = context.store.mirrors.findByName(mirrorName)
  if (!row) return undefined
  const names: string[] = []
  for (const { name } of context.store.report.iterateFiles(row.id)) {
    names.push(name)
    if (names.length === MOST_FILES) break
  }
  const queries = [...new Set(names.map(wordsOf).filter((words) => words !== ''))]
  // Several words in a row describe a document better than one.
  queries.sort((a, b) => Number(b.includes(' ')) - Number(a.includes(' ')))
  for (const query of queries.slice(0, MOST_TRIES)) {
    if (await findsSomething(context, row.library.remoteId, query)) return query
  }
  return undefined
}

/** The words of a file's name without its extension. */
function wordsOf(name: string): string {
  const [stem = ''] = /^.+(?=\.)|^.+/.exec(name) ?? []
  const words = stem.split(/[^\p{L}\p{N}]+/u).filter((word) => /^\p{L}+$/u.test(word))
  return words.some(({ length }) => length >= SHORTEST_WORD) ? words.slice(0, MOST_WORDS).join(' ') : ''
}

/** Errors count as nothing found, because a suggestion must not fail a command; only an interruption throws. */
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
