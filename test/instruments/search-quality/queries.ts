import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LabelledQuery {
  readonly group: string
  readonly query: string
  /** The documents that answer it, each as good as the other. */
  readonly expected: readonly string[]
}

/** Reads queries.txt; throws an Error for a line that is not `group | query | documents`. */
export function readQueries(): LabelledQuery[] {
  const lines = readFileSync(join(import.meta.dirname, 'queries.txt'), 'utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [group, query, documents] = line.split(' | ')
      if (!group || !query || !documents) throw new Error(`Not a labelled query: "${line}"`)
      return { group, query, expected: documents.split(', ') }
    })
}
