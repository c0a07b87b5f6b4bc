import type { Examined } from './examine.ts'

/** The rows of the table of states in docs/embedded-library.md. */
const STATES: readonly (readonly [name: string, is: (document: Examined) => boolean])[] = [
  ['completed', ({ state }) => state === 'completed'],
  [
    'completed_with_warnings',
    ({ state, textExtracted }) => state === 'completed_with_warnings' && textExtracted === true,
  ],
  [
    'completed_with_warnings, no text',
    ({ state, textExtracted }) => state === 'completed_with_warnings' && !textExtracted,
  ],
  ['partial', ({ state }) => state === 'partial'],
  ['failed', ({ state }) => state === 'failed'],
]

const isSearchable = ({ state }: Examined) => state === 'completed' || state === 'completed_with_warnings'

/** Returns what is wrong with a document; undefined when nothing is. */
export function missOf(document: Examined): string | undefined {
  const { ends, state, words, isFound, reason, textExtracted, isIndependent } = document
  if (ends !== 'searchable') return state === ends ? undefined : `ended ${state} instead of ${ends}`
  // Where no other program reads a document, nothing says that a partial one has more text.
  if (words.length === 0 || (state === 'partial' && !isIndependent))
    return isSearchable(document) || state === 'partial' ? undefined : `ended ${state} (${reason})`
  if (!isSearchable(document)) return `ended ${state} (${reason})`
  if (!isFound) return `not found by ${words.join(' ')} (${isIndependent ? 'read by another program' : 'its own text'})`
  return textExtracted === false ? 'found although no text was extracted' : undefined
}

export function renderTable(documents: readonly Examined[]): string {
  const heading = ['kind', 'files', ...STATES.map(([name]) => name), 'with words', 'found by them']
  const rows = [...Map.groupBy(documents, ({ kind }) => kind)].map(([kind, list]) => [kind, ...countsOf(list)])
  const lines = [heading, heading.map(() => '---'), ...rows, ['all', ...countsOf(documents)]]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function countsOf(list: readonly Examined[]): number[] {
  const sought = list.filter((each) => isSearchable(each) && each.words.length > 0)
  const states = STATES.map(([, is]) => list.filter(is).length)
  return [list.length, ...states, sought.length, sought.filter(({ isFound }) => isFound).length]
}

/** The states that no document has reached. */
export function missingStates(documents: readonly Examined[]): string[] {
  return STATES.filter(([, is]) => !documents.some(is)).map(([name]) => name)
}
