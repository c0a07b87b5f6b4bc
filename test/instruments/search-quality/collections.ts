import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { FUNCTION_WORDS, type Language } from '../../../src/embedded/analysis/function-words.ts'
import type { CorpusDocument } from './corpus.ts'

/** A query with how well each relevant document answers it, by its path. */
export interface JudgedQuery {
  readonly query: string
  readonly grades: ReadonlyMap<string, number>
}

/** A public test collection. */
export interface Collection {
  readonly name: string
  readonly language: Language
  readonly documents: readonly CorpusDocument[]
  /** Those that at least one document answers. */
  readonly queries: readonly JudgedQuery[]
}

const LINE = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('about'), name: z.string(), language: z.string() }),
  z.object({ kind: z.literal('document'), id: z.string(), ext: z.string(), title: z.string(), text: z.string() }),
  z.object({ kind: z.literal('query'), id: z.string(), text: z.string() }),
  z.object({ kind: z.literal('judgement'), query: z.string(), document: z.string(), grade: z.number() }),
])
type Line = z.infer<typeof LINE>

const MAX_BYTES = 2 ** 30

/**
 * Reads a collection of one JSON value a line, also compressed by `xz` (whose program has to be installed): what it is, its documents, its
 * queries, and a grade above 0 for each document that answers a query.
 */
export function readCollection(file: string): Collection {
  const text = file.endsWith('.xz')
    ? execFileSync('xz', ['--decompress', '--stdout', file], { encoding: 'utf8', maxBuffer: MAX_BYTES })
    : readFileSync(file, 'utf8')
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => LINE.parse(JSON.parse(line)))
  const of = <Kind extends Line['kind']>(kind: Kind) =>
    lines.filter((line): line is Extract<Line, { kind: Kind }> => line.kind === kind)
  const documents = of('document').map(({ id, ext, title, text: body }) => ({
    path: `${id}.${ext}`,
    name: `${id}.${ext}`,
    text: title === '' ? body : `${ext === 'md' ? '# ' : ''}${title}\n\n${body}`,
  }))
  const paths = new Map(of('document').map(({ id, ext }) => [id, `${id}.${ext}`]))
  const judged = Map.groupBy(of('judgement'), ({ query }) => query)
  const queries = of('query').map(({ id, text: query }) => {
    const graded = (judged.get(id) ?? []).filter(({ grade }) => grade > 0)
    return { query, grades: new Map(graded.map(({ document, grade }) => [paths.get(document) ?? document, grade])) }
  })
  const [about] = of('about')
  const language = [...FUNCTION_WORDS.keys()].find((each) => each === about?.language) ?? 'en'
  return { name: about?.name ?? file, language, documents, queries: queries.filter(({ grades }) => grades.size > 0) }
}
