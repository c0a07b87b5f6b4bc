import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

/** A document of the labelled set. `path` names it in the queries. */
export interface CorpusDocument {
  readonly path: string
  readonly name: string
  readonly text: string
}

const HERE = import.meta.dirname
const MODULES = join(HERE, '..', '..', '..', 'node_modules')
const MAX_BYTES = 400_000

/**
 * Real documents: the Universal Declaration of Human Rights in 23 languages, an article a document, and the manuals and readmes of
 * the packages in the lockfile.
 */
export function readCorpus(): CorpusDocument[] {
  return [...readDeclaration(), ...readManuals()]
}

/** The articles of the declaration. */
export function readDeclaration(): CorpusDocument[] {
  const directory = join(HERE, 'documents', 'declaration')
  return readdirSync(directory).flatMap((file) => {
    const language = basename(file, extname(file))
    const articles = readFileSync(join(directory, file), 'utf8').split(/^# \d+$/m)
    return articles.slice(1).map((text, index) => {
      const number = index + 1
      return { path: `declaration/${language}/${number}`, name: `${language}-${number}.txt`, text: text.trim() }
    })
  })
}

function readManuals(): CorpusDocument[] {
  const patterns = ['*/{README,readme}.md', '@*/*/{README,readme}.md', '{fastify,undici,pino}/docs/**/*.md']
  return globSync(patterns, { cwd: MODULES })
    .sort()
    .map((path) => ({ path, name: nameOf(path), text: readFileSync(join(MODULES, path), 'utf8') }))
    .filter(({ text }) => text.length < MAX_BYTES)
}

/** A readme takes the name of its package, as when people save it. */
function nameOf(path: string): string {
  return /^readme\.md$/i.test(basename(path)) ? path.replaceAll('/', '-') : basename(path)
}

export interface LabelledQuery {
  readonly group: string
  readonly query: string
  /** The documents that answer it, each as good as the other. */
  readonly expected: readonly string[]
}

/** Reads a file of queries; throws an Error for a line that is not `group | query | documents`. */
export function readQueries(file = 'queries.txt'): LabelledQuery[] {
  const lines = readFileSync(join(HERE, file), 'utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [group, query, documents] = line.split(' | ')
      if (!group || !query || !documents) throw new Error(`Not a labelled query: "${line}"`)
      return { group, query, expected: documents.split(', ') }
    })
}
