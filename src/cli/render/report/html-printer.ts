import { hash } from 'node:crypto'
import type { ShownState } from '../../../contract/report-classes.ts'
import { joinPath } from '../../../foundation/files/paths.ts'
import { counted, escapeText, groupDigits, shellWord } from '../../../foundation/text/safe-text.ts'
import { formatDayAndTime } from '../../../foundation/text/times.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { nameOrigin } from '../../../sync/pin/pinned-service.ts'
import type { MirrorReport } from '../../../sync/report/report.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import { BY_URGENCY, GUIDANCE, headlineOf, NEED_A_PERSON } from './guidance.ts'
import {
  describeFailure,
  describeVerification,
  lines,
  nameOf,
  type ReportPrinter,
  reasonForPeople,
  type Tally,
} from './report-printer.ts'

const ALL = 'all'
const NEEDS_YOU = 'needs-you'

/** Prints a page that loads nothing and works without scripts; its script only adds a search. */
export function createHtmlPrinter(): ReportPrinter {
  let number = 0
  let mirror: MirrorReport | undefined
  return {
    countsFirst: true,
    begin: (generatedAt, host) =>
      lines(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        `<meta http-equiv="Content-Security-Policy" content="${policy()}">`,
        `<title>shelfd report of ${html(host)}, ${html(generatedAt)}</title><style>${STYLE}</style></head><body><main>`,
        `<p class="made">shelfd report of ${html(host)}, <time datetime="${html(generatedAt)}">${formatDayAndTime(Date.parse(generatedAt))}</time></p>`,
      ),
    beginMirror: (report, tally) => {
      number += 1
      mirror = report
      return lines(...head(report, tally, `m${number}`))
    },
    entry: (entry, state) => (mirror ? lines(rowOf(entry, state, mirror)) : undefined),
    endMirror: (report, { elsewhere }) => {
      const verification = describeVerification(report)
      const more = `<p>${counted(elsewhere, 'more entry', 'more entries')} elsewhere in the library.</p>`
      const verified = verification === undefined ? '' : `<p>${verification}.</p>`
      return lines(`</tbody></table>${elsewhere === 0 ? '' : more}${verified}</section>`)
    },
    end: (failure) => {
      const open = `<p class="failure" role="alert">The report ended early: ${html(describeFailure(failure).message)}</p>`
      return lines(`${failure === undefined ? '' : open}</main><script>${SCRIPT}</script></body></html>`)
    },
  }
}

function policy(): string {
  const source = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  return `default-src 'none'; style-src ${source(STYLE)}; script-src ${source(SCRIPT)}; base-uri 'none'; form-action 'none'`
}

function* head(report: MirrorReport, tally: Tally, id: string): Generator<string> {
  const { name, path, library, remotePath, service, listing } = report
  const counts = tally.states
  const needed = NEED_A_PERSON.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  const all = BY_URGENCY.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  yield `<section><h1>${html(name)}</h1><p class="headline">${html(headlineOf(tally))}</p>`
  const incomplete = listing === 'complete' ? '' : ` · listing ${listing}`
  yield `<p class="sides">${html(path)} ↔ ${html(`${library.name}:${remotePath}`)} · ${html(nameOrigin(service))}${incomplete}</p>`
  yield '<fieldset class="tiles"><legend>Show</legend>'
  yield tile(id, NEEDS_YOU, needed === 1 ? 'needs you' : 'need you', needed, needed > 0)
  for (const state of BY_URGENCY) {
    const count = counts[state] ?? 0
    if (count > 0) yield tile(id, state, GUIDANCE[state].title, count, false)
  }
  yield tile(id, ALL, 'everything', all, needed === 0)
  yield '</fieldset><table><thead><tr><th>File<th>State<th>Why<th>What next<th>In the library<th class="size">Size</tr></thead><tbody>'
}

function tile(
  id: string,
  value: ShownState | typeof ALL | typeof NEEDS_YOU,
  title: string,
  count: number,
  on: boolean,
) {
  const checked = on ? ' checked' : ''
  return `<label class="${value}"><input type="radio" name="${id}" value="${value}"${checked}><b>${groupDigits(count)}</b> ${html(title)}</label>`
}

function rowOf(entry: ReportEntry, state: ShownState, { name, path }: MirrorReport): string {
  const { title, next } = GUIDANCE[state]
  const reason = entry.reason === null ? '' : reasonForPeople(entry.reason)
  const copy = entry.duplicateOf === null ? '' : `a copy of ${entry.duplicateOf}`
  const remote = entry.path === null ? entry.remotePaths.slice(1) : entry.remotePaths
  const cells = [
    `<th scope="row">${html(nameOf(entry))}`,
    `<td><span>${html(title)}</span>`,
    `<td>${html([reason, copy].filter(Boolean).join('; '))}`,
    `<td>${html(next(shellWord(name), shellWord(joinPath(path, entry.path ?? ''))))}`,
    `<td>${remote.map(html).join('<br>')}`,
    `<td class="size">${entry.size === null ? '' : formatSize(entry.size)}`,
  ]
  return `<tr class="${state}">${cells.join('')}</tr>`
}

function html(text: string): string {
  return escapeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** The chosen tile hides the rows of other classes, without a script. */
const FILTERS = [
  ...BY_URGENCY.map((reportClass) => hideBut(reportClass, [reportClass])),
  hideBut('needs-you', NEED_A_PERSON),
].join('\n')

function hideBut(value: string, classes: readonly string[]): string {
  const others = classes.map((name) => `:not(.${name})`).join('')
  return `section:has(input[value="${value}"]:checked) tbody tr${others} { display: none }`
}

const STYLE = `
:root { color-scheme: light dark; --line: #d7d7d2; --soft: #6b6b66; --paper: #fbfbf9; --ink: #1c1c1a; --good: #1a7f4b; --warn: #a15c00; --bad: #b3261e; --calm: #2a5db0 }
@media (prefers-color-scheme: dark) { :root { --line: #3a3a38; --soft: #a3a39d; --paper: #191918; --ink: #ececea; --good: #58c48b; --warn: #e5a54b; --bad: #f2857d; --calm: #8ab4f8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 84rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { margin: 2.5rem 0 0; font-size: 1.1rem; color: var(--soft); font-weight: 600 }
.made { color: var(--soft); margin: 0 }
.headline { margin: .1rem 0 .3rem; font-size: 1.75rem; line-height: 1.25; font-weight: 650; text-wrap: balance }
.sides { margin: 0 0 1.25rem; color: var(--soft); overflow-wrap: anywhere }
.failure { color: var(--bad); font-weight: 600 }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .5rem }
legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
label { padding: .4rem .8rem .45rem; border: 1px solid var(--line); border-radius: .6rem; cursor: pointer; color: var(--soft) }
label b { display: block; font-size: 1.35rem; line-height: 1.2; color: var(--ink); font-variant-numeric: tabular-nums }
label input { position: absolute; opacity: 0; pointer-events: none }
label:has(:checked) { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; color: var(--ink) }
label:has(:focus-visible) { outline: 2px solid var(--calm); outline-offset: 2px }
.find { display: block; width: min(100%, 24rem); margin: 0 0 1rem; padding: .5rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .6rem }
table { width: 100%; border-collapse: collapse }
th, td { padding: .45rem .75rem .45rem 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; font-weight: 400; overflow-wrap: anywhere }
thead th { border: 0; color: var(--soft); font-size: .85rem }
tbody td { color: var(--soft) }
td span { color: var(--ink); white-space: nowrap }
td span::before { content: "●"; margin-inline-end: .4rem; color: var(--calm) }
.in-sync td span::before { color: var(--good) }

.without-text td span::before, .superseded td span::before, .gone td span::before, .left-out td span::before,
.changed td span::before, .unknown td span::before { color: var(--warn) }
.needs-attention td span::before, .missing-remotely td span::before { color: var(--bad) }
.size { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums }
tr[hidden] { display: none }
@media (max-width: 48rem) { thead { display: none } tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0 } th, td { display: block; border: 0; padding: .1rem 0; text-align: start } td:empty { display: none } .headline { font-size: 1.35rem } }
@media print { fieldset, .find { display: none } main { max-width: none; padding: 0 } }
${FILTERS}
`

const SCRIPT = `
for (const table of document.querySelectorAll('table')) {
  const find = document.createElement('input')
  find.type = 'search'
  find.className = 'find'
  find.placeholder = 'Find a path or a reason'
  find.setAttribute('aria-label', find.placeholder)
  const rows = [...table.tBodies[0].rows]
  find.addEventListener('input', () => {
    const words = find.value.toLowerCase().split(/\\s+/)
    for (const row of rows) {
      const text = row.textContent.toLowerCase()
      row.hidden = !words.every((word) => text.includes(word))
    }
  })
  table.before(find)
}
`
