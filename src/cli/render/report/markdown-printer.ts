import type { ShownState } from '../../../contract/report-classes.ts'
import { escapeText, groupDigits } from '../../../foundation/text/safe-text.ts'
import { formatDayAndTime } from '../../../foundation/text/times.ts'
import type { ReportEntry } from '../../../sync/report/report-entry.ts'
import { BY_URGENCY, GUIDANCE, headlineOf } from './guidance.ts'
import {
  describeFailure,
  describeVerification,
  lines,
  nameOf,
  type ReportPrinter,
  reasonForPeople,
} from './report-printer.ts'

/** For each mirror a headline, the counts, and what differs. */
export function createMarkdownPrinter({ listsAll }: { readonly listsAll: boolean }): ReportPrinter {
  let hasRows = false
  return {
    countsFirst: true,
    omitsInSync: !listsAll,
    begin: (generatedAt) => lines(`# Report of ${formatDayAndTime(Date.parse(generatedAt))}`),
    beginMirror: (mirror, tally) => {
      hasRows = false
      const { name, path, library, remotePath, listing } = mirror
      const counts = tally.states
      const states = BY_URGENCY.flatMap((state) => {
        const count = counts[state]
        return count ? [`| ${GUIDANCE[state].title} | ${groupDigits(count)} |`] : []
      })
      return lines(
        `\n## ${escapeMarkdown(name)}`,
        `\n${escapeMarkdown(path)} ↔ ${escapeMarkdown(`${library.name}:${remotePath}`)} (listing ${listing})`,
        `\n**${headlineOf(tally)}**`,
        ...(states.length === 0 ? [] : ['\n| state | files |\n|---|---:|', ...states]),
      )
    },
    entry: (entry, state) => {
      if (entry.class === 'in-sync' && !listsAll) return undefined
      const head = hasRows ? [] : ['\n| state | path | in the library | why |\n|---|---|---|---|']
      hasRows = true
      return lines(...head, rowOf(entry, state))
    },
    endMirror: (mirror, { elsewhere }) => {
      const verification = describeVerification(mirror)
      return lines(
        ...(elsewhere === 0 ? [] : [`\n${groupDigits(elsewhere)} more entries elsewhere in the library.`]),
        ...(verification === undefined ? [] : [`\n${verification}.`]),
      )
    },
    end: (failure) =>
      failure === undefined
        ? undefined
        : lines(`\n**The report ended early:** ${escapeMarkdown(describeFailure(failure).message)}`),
  }
}

function rowOf(entry: ReportEntry, state: ShownState): string {
  const reason = entry.reason === null ? '' : escapeMarkdown(reasonForPeople(entry.reason))
  const where = entry.path === null ? '' : escapeMarkdown(entry.remotePaths[0] ?? '')
  return `| ${GUIDANCE[state].title} | ${escapeMarkdown(nameOf(entry))} | ${where} | ${reason} |`
}

function escapeMarkdown(text: string): string {
  return escapeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|#~]/g, '\\$&')
}
