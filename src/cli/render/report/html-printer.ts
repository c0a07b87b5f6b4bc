import { hash } from 'node:crypto'
import type { ShownState } from '../../../contract/report-classes.ts'
import { joinPath } from '../../../foundation/files/paths.ts'
import { counted, escapeText, groupDigits, shellWord } from '../../../foundation/text/safe-text.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import type { MirrorReport } from '../../../sync/report/report.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import { BY_URGENCY, GUIDANCE, NEED_A_PERSON } from './guidance.ts'
import { headlineOf } from './headline.ts'
import { SCRIPT, STYLE } from './html-assets.ts'
import {
  describeFailure,
  describeVerification,
  lines,
  nameOf,
  type ReportPrinter,
  reasonForPeople,
  shownCounts,
  type Tally,
} from './report-printer.ts'

/** What the tiles above a table choose: one class, those that need a person, or all. */
const ALL = 'all'
const NEEDS_YOU = 'needs-you'

/** Prints one page that loads nothing and needs no script to be read or filtered by class; a script adds a search. */
export function createHtmlPrinter(): ReportPrinter {
  let number = 0
  let mirror: MirrorReport | undefined
  return {
    countsFirst: true,
    begin: (generatedAt) =>
      lines(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        `<meta http-equiv="Content-Security-Policy" content="${policy()}">`,
        `<title>shelfd report, ${html(generatedAt)}</title><style>${STYLE}</style></head><body><main>`,
        `<p class="made">shelfd report, <time datetime="${html(generatedAt)}">${html(timeForPeople(generatedAt))}</time></p>`,
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
  const { name, path, library, remotePath, listing } = report
  const counts = shownCounts(tally)
  const needed = NEED_A_PERSON.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  const all = BY_URGENCY.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  yield `<section><h1>${html(name)}</h1><p class="headline">${html(headlineOf(tally))}</p>`
  const incomplete = listing === 'complete' ? '' : ` · listing ${listing}`
  yield `<p class="sides">${html(path)} ↔ ${html(`${library.name}:${remotePath}`)}${incomplete}</p>`
  yield '<fieldset class="tiles"><legend>Show</legend>'
  yield tile(id, NEEDS_YOU, 'need you', needed, needed > 0)
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

/** `2026-11-22 10:59 UTC` */
function timeForPeople(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}

function html(text: string): string {
  return escapeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
