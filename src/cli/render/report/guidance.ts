import { SHOWN_STATES, type ShownState } from '../../../contract/report-classes.ts'
import type { ReportClass } from '../../../rules/report-class.ts'
import { WITHOUT_TEXT } from '../../../rules/without-text.ts'

interface Guidance {
  /** The state in words. */
  readonly title: string
  /** What a person does about such a row; empty when there is nothing to do. The names are words of a shell. */
  readonly next: (mirror: string, path: string) => string
}

/** The states in words, for formats that are handed on to people. */
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
  superseded: { title: 'old version, still searchable', next: () => 'the service can remove it; shelfd never deletes' },
  'without-text': { title: WITHOUT_TEXT, next: () => '' },
  'in-sync': { title: 'searchable on both sides', next: () => '' },
  unsupported: { title: 'not a file', next: () => '' },
  ignored: { title: 'left out by a rule', next: (_, path) => `shelfd why ${path} names the rule` },
}

/** The states, those that need a person first. */
export const BY_URGENCY: readonly ShownState[] = SHOWN_STATES.toSorted(
  (a, b) => Object.keys(GUIDANCE).indexOf(a) - Object.keys(GUIDANCE).indexOf(b),
)

/** The classes that end by what a person does. */
export const NEED_A_PERSON: readonly ReportClass[] = [
  'needs-attention',
  'missing-remotely',
  'changed',
  'local-only',
  'unknown',
]
