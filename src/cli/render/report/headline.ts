import { counted, groupDigits } from '../../../foundation/text/safe-text.ts'
import { NEED_A_PERSON } from './guidance.ts'
import type { Tally } from './report-printer.ts'

/** `83 of 85 files are searchable; 2 need you.` */
export function headlineOf({ counts, withoutText }: Tally): string {
  const searchable = counts['in-sync'] ?? 0
  const waiting = NEED_A_PERSON.reduce((sum, reportClass) => sum + (counts[reportClass] ?? 0), 0)
  const files = searchable + waiting + (counts.processing ?? 0)
  if (files === 0) return 'There is no file.'
  const unfindable = Array.from(withoutText.values()).reduce((sum, count) => sum + count, 0)
  const found = searchable - unfindable
  const share = found === files ? `All ${counted(files, 'file')}` : `${groupDigits(found)} of ${counted(files, 'file')}`
  const verb = found === 1 && files === 1 ? 'is' : 'are'
  const rest = [
    ...(waiting === 0 ? [] : [counted(waiting, 'needs you', 'need you')]),
    ...(unfindable === 0 ? [] : [counted(unfindable, 'is stored without its text', 'are stored without their text')]),
    ...(counts.processing ? [`${groupDigits(counts.processing)} being processed`] : []),
  ]
  return `${share} ${verb} searchable${rest.map((text) => `; ${text}`).join('')}.`
}
