import Database from 'better-sqlite3'
import type { CorpusDocument } from './corpus.ts'

const FOUND = `SELECT document FROM part WHERE part MATCH ? ORDER BY bm25(part) LIMIT 1000`

/**
 * Asks a bare table of SQLite's FTS5 all queries, as anybody would set it up: accents folded, any of the words, BM25, a document as
 * good as its best part. With `length`, the parts are passages of so many characters, otherwise the documents as a whole.
 */
export function askFts5(
  documents: readonly CorpusDocument[],
  queries: readonly string[],
  depth: number,
  length = Number.POSITIVE_INFINITY,
): string[][] {
  const database = new Database(':memory:')
  database.exec(
    `CREATE VIRTUAL TABLE part USING fts5 (text, document UNINDEXED, tokenize = 'unicode61 remove_diacritics 2')`,
  )
  const insert = database.prepare('INSERT INTO part (text, document) VALUES (?, ?)')
  database.transaction(() => {
    for (const { path, name, text } of documents) {
      for (const part of partsOf(`${name}\n${text}`, length)) insert.run(part, path)
    }
  })()
  const find = database.prepare<[string], string>(FOUND).pluck()
  return queries.map((query) => {
    const words = query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    const found = find.all(words.map((word) => `"${word}"`).join(' OR '))
    return [...new Set(found)].slice(0, depth)
  })
}

/** Cuts between words. */
function partsOf(text: string, length: number): string[] {
  const parts: string[] = []
  for (let start = 0; start < text.length; ) {
    const blank = start + length < text.length ? text.lastIndexOf(' ', start + length) : text.length
    const end = blank > start ? blank : start + length
    parts.push(text.slice(start, end))
    start = end
  }
  return parts
}
