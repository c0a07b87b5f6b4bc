import { findTests, withoutTag } from '../test/promises/collect-tests.ts'
import { faultsOfFiles } from '../test/promises/faults-of-files.ts'
import { faultsOfTheProcess } from '../test/promises/faults-of-the-process.ts'
import { faultsOfTheService } from '../test/promises/faults-of-the-service.ts'
import { promises } from '../test/promises/promises.ts'
import type { FaultRow, PromiseRow } from '../test/promises/rows.ts'
import { security } from '../test/promises/security.ts'
import { tableOf } from './table.ts'

export const PROMISES_PAGE = new URL('../docs/development/promises.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from test/promises and the titles of tests. -->'

const tests = findTests()

/** The page of promises: what people wrote above the mark, then the catalogue that the tests are named in. */
export function renderPromisesPage(current: string): string {
  const [written = ''] = current.split(MARK)
  const parts = [
    '## Promises',
    'At every moment:',
    ...promises.map(renderPromise),
    '## Faults',
    '### Files and the machine',
    renderFaults(faultsOfFiles),
    '### The service and the way to it',
    renderFaults(faultsOfTheService),
    '### The process and its state',
    renderFaults(faultsOfTheProcess),
    '## Security',
    tableOf(
      ['id', 'rule', 'shown by'],
      security.map(({ id, holds, open }) => [id, holds, listTests(id, open)]),
    ),
  ]
  return `${written}${MARK}\n\n${parts.join('\n\n')}\n`
}

function renderPromise({ id, holds, except = [], open }: PromiseRow): string {
  const sentence = holds.charAt(0).toUpperCase() + holds.slice(1)
  const exceptions = except.length === 0 ? [] : ['Except:', renderList(except)]
  const tests = renderList([...linesOf(id), ...(open === undefined ? [] : [`open: ${open}`])])
  return [`### ${id}`, wrap(sentence), ...exceptions, 'Shown by:', tests].join('\n\n')
}

function renderList(items: readonly string[]): string {
  return items.map((item) => wrap(`- ${item}`, '  ')).join('\n')
}

/** No line is too wide for an editor. */
function wrap(text: string, indentation = ''): string {
  return text.replaceAll(/(.{1,158})(?: |$)/g, `$1\n${indentation}`).trimEnd()
}

function renderFaults(faults: readonly FaultRow[]): string {
  const rows = faults.map((row) => [row.id, row.happens, row.answer, row.class, listTests(row.id, row.open)])
  return tableOf(['id', 'what happens', 'right answer', 'class', 'shown by'], rows)
}

function listTests(id: string, open: string | undefined): string {
  return [...linesOf(id), ...(open === undefined ? [] : [`open: ${open}`])].join('<br>')
}

function linesOf(id: string): string[] {
  return Object.entries(tests.get(id) ?? {}).map(([file, titles]) => `\`${file}\`: ${titles.map(quoted).join(', ')}`)
}

function quoted(title: string): string {
  return `“${withoutTag(title).replaceAll('<', '&lt;')}”`
}
