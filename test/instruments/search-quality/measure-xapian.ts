import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { indexCommand, openXapian } from '../../support/xapian.ts'
import type { CorpusDocument, LabelledQuery } from './corpus.ts'
import { type Answered, answeredBy } from './measure.ts'

/** Indexes the documents by Xapian's `omindex` and asks its `omega` all queries, both as they are without any setting. */
export function measureXapian(documents: readonly CorpusDocument[], queries: readonly LabelledQuery[]): Answered[] {
  const directory = mkdtempSync(join(tmpdir(), 'search-quality-xapian-'))
  try {
    const tree = join(directory, 'documents')
    for (const [index, { name, text }] of documents.entries()) {
      mkdirSync(join(tree, String(index)), { recursive: true })
      writeFileSync(join(tree, String(index), name), text)
    }
    const database = join(directory, 'xapian')
    const [program = '', ...args] = indexCommand(tree, database)
    execFileSync(program, args, { stdio: 'ignore' })
    const ask = openXapian(database, join(directory, 'omega'))
    const found = queries.map(({ query }) => ask(query).map((path) => documents[Number.parseInt(path, 10)]?.path ?? ''))
    return answeredBy(queries, found)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
