import { SHOWN_STATES, type ShownState } from '../../../contract/report-classes.ts'
import { counted, groupDigits } from '../../../foundation/text/safe-text.ts'
import type { ReportClass } from '../../../rules/report-class.ts'
import { WITHOUT_TEXT } from '../../../rules/without-text.ts'
import type { Tally } from './report-printer.ts'

interface Guidance {
  readonly title: string
  /** Says what a person can do about such a row; empty for nothing. `mirror` and `path` are quoted for a shell. */
  readonly next: (mirror: string, path: string) => string
}

const STAYS = 'the service can remove it; shelfd never deletes'

/** The states in words, for the formats that people pass on to others. */
export const GUIDANCE: Readonly<Record<ShownState, Guidance>> = {
  'needs-attention': { title: 'needs attention', next: (_, path) => `shelfd why ${path} explains it` },
  'missing-remotely': {
    title: 'missing from the library',
    next: (_, path) => `removed there; shelfd why ${path} shows what was sent`,
  },
  changed: { title: 'changed, not sent yet', next: (mirror) => `shelfd sync ${mirror} sends the new version` },
  'local-only': { title: 'not sent yet', next: (mirror) => `shelfd sync ${mirror} sends it` },
  unknown: { title: 'not known', next: () => 'the listing or a directory was incomplete; run the report again' },
  processing: { title: 'being processed', next: () => 'it becomes searchable by itself' },
  'remote-only': { title: 'only in the library', next: () => 'no file of the mirror belongs to it' },
  superseded: {
    title: 'replaced by a newer version',
    next: () => STAYS,
  },
  gone: { title: 'gone, still in the library', next: () => STAYS },
  'left-out': { title: 'left out, still in the library', next: () => STAYS },
  'without-text': { title: WITHOUT_TEXT, next: () => '' },
  'in-sync': { title: 'searchable on both sides', next: () => '' },
  'set-aside': { title: 'set aside', next: (_, path) => `shelfd failed retry ${path} tries it again` },
  unsupported: { title: 'not a file', next: () => '' },
  ignored: { title: 'left out by a rule', next: (_, path) => `shelfd why ${path} names the rule` },
}

export const BY_URGENCY: readonly ShownState[] = SHOWN_STATES.toSorted(
  (a, b) => Object.keys(GUIDANCE).indexOf(a) - Object.keys(GUIDANCE).indexOf(b),
)

export const NEED_A_PERSON: readonly ReportClass[] = [
  'needs-attention',
  'missing-remotely',
  'changed',
  'local-only',
  'unknown',
]

/** Returns the headline, such as `83 of 85 files are searchable; 2 need you.` */
export function headlineOf(tally: Tally): string {
  const counts = tally.states
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
