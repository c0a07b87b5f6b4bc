import { SENTENCES } from '../test/contract/sentences/all.ts'
import type { Sentence } from '../test/contract/suite/sentence.ts'
import { tableOf } from './table.ts'

export const CONTRACT_PAGE = new URL('../docs/development/contract-suite.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from test/contract/sentences. -->'

/** The page of the contract suite: what people wrote above the mark, then every sentence and what observes it. */
export function renderContractPage(current: string): string {
  const [written = ''] = current.split(MARK)
  const observed = SENTENCES.filter(({ assertions }) => assertions.length > 0)
  const hidden = SENTENCES.filter(({ unobservable }) => unobservable !== undefined)
  const count = observed.reduce((sum, { assertions }) => sum + assertions.length, 0)
  const parts = [
    `## ${observed.length} sentences that are observed, by ${count} assertions`,
    tableOf(['section', 'what the interface says', 'assertions'], observed.map(rowOf)),
    `## ${hidden.length} sentences that cannot be observed`,
    tableOf(
      ['section', 'what the interface says', 'why not'],
      hidden.map(({ section, says, unobservable = '' }) => [section, says, unobservable]),
    ),
  ]
  return `${written}${MARK}\n\n${parts.join('\n\n')}\n`
}

function rowOf({ section, says, assertions }: Sentence): string[] {
  return [section, says, assertions.map(({ title }) => title).join('<br>')]
}
