import { escapeText } from '../../../src/foundation/text/safe-text.ts'
import type { Finding } from './run-suite.ts'
import type { Sentence } from './sentence.ts'

const SECTION_WIDTH = 8
const TEXT_WIDTH = 50

export const HEADING = renderRow(['SECTION'], ['SENTENCE'], ['ASSERTION'], 'RESULT')

/** A row of the table, several lines high; below it why the assertion failed or was not observed. */
export function renderFinding({ sentence, assertion, result, reason }: Finding): string {
  const row = renderRow([sentence.section], wrap(sentence.says), wrap(assertion.title), result)
  const margin = ' '.repeat(SECTION_WIDTH)
  const why = reason === undefined ? [] : reason.split('\n').map((line) => `${margin}! ${escapeText(line)}`)
  return [row, ...why].join('\n')
}

/** Returns how many assertions there were and how they ended. */
export function renderCounts(findings: readonly Finding[], sentences: readonly Sentence[]): string {
  const count = (result: Finding['result']) => findings.filter((each) => each.result === result).length
  const observable = sentences.filter(({ assertions }) => assertions.length > 0)
  const ended = [
    `${count('passed')} passed`,
    `${count('failed')} failed`,
    `${count('not observed')} could not be observed with this service and these options`,
  ]
  return `${findings.length} assertions of ${observable.length} sentences: ${ended.join(', ')}.`
}

/** The sentences that nothing can observe, with the reasons. */
export function renderUnobservable(sentences: readonly Sentence[]): string {
  const hidden = sentences.filter(({ unobservable }) => unobservable !== undefined)
  const lines = hidden.map(
    ({ section, says, unobservable }) => `${section.padEnd(SECTION_WIDTH)}${says} (${unobservable})`,
  )
  return [`${hidden.length} sentences cannot be observed:`, ...lines].join('\n')
}

function renderRow(section: string[], says: string[], title: string[], result: string): string {
  const height = Math.max(says.length, title.length)
  return Array.from({ length: height }, (_, index) =>
    [
      (section[index] ?? '').padEnd(SECTION_WIDTH),
      (says[index] ?? '').padEnd(TEXT_WIDTH + 2),
      (title[index] ?? '').padEnd(TEXT_WIDTH + 2),
      index === 0 ? result : '',
    ]
      .join('')
      .trimEnd(),
  ).join('\n')
}

function wrap(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= TEXT_WIDTH) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
