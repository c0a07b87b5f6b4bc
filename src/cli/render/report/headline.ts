import { counted, groupDigits } from '../../../foundation/text/safe-text.ts'
import { NEED_A_PERSON } from './guidance.ts'
import { shownCounts, type Tally } from './report-printer.ts'

/** `83 of 85 files are searchable; 2 need you.` */
export function headlineOf(tally: Tally): string {
  const counts = shownCounts(tally)
  const { 'in-sync': found = 0, 'without-text': unfindable = 0 } = counts
  const waiting = NEED_A_PERSON.reduce((sum, reportClass) => sum + (counts[reportClass] ?? 0), 0)
  const files = found + unfindable + waiting + (counts.processing ?? 0)
  if (files === 0) return 'There is no file.'
  const share =
    found === files
      ? files === 1
        ? 'The only file'
        : `All ${counted(files, 'file')}`
      : `${groupDigits(found)} of ${counted(files, 'file')}`
  const verb = found === 1 && files === 1 ? 'is' : 'are'
  const rest = [
    ...(waiting === 0 ? [] : [counted(waiting, 'needs you', 'need you')]),
    ...(unfindable === 0 ? [] : [counted(unfindable, 'is stored without its text', 'are stored without their text')]),
    ...(counts.processing ? [`${groupDigits(counts.processing)} being processed`] : []),
  ]
  return `${share} ${verb} searchable${rest.map((text) => `; ${text}`).join('')}.`
}
