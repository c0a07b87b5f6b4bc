import { parseQuery } from '../query/parse-query.ts'

/**
 * The text whose meaning a query is about; undefined when it means its words: who quotes or excludes does, and who gives a single
 * word, which is mostly a name.
 */
export function questionOf(query: string): string | undefined {
  const { clauses, excluded } = parseQuery(query)
  const isLiteral = excluded.length > 0 || clauses.some(({ kind }) => kind === 'quoted')
  if (isLiteral || clauses.length < 2) return undefined
  return query.trim()
}
