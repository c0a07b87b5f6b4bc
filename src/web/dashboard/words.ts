import type { MirrorOverview } from '../../contract/dashboard/shapes.ts'
import type { ShownState } from '../../contract/report-classes.ts'
import type { Tone } from '../common/words.ts'
import type { View } from './routes.ts'

export const TITLES: Readonly<Record<View, string>> = {
  mirrors: 'Mirrors',
  report: 'Report',
  problems: 'Problems',
  timeline: 'Timeline',
  search: 'Search',
  settings: 'Settings',
  log: 'Log',
}

/** What the sign of a mirror's state says, in colour and for screen readers. */
export const SIGNS: Readonly<Record<MirrorOverview['state']['sign'], { readonly tone: Tone; readonly name: string }>> =
  {
    '✓': { tone: 'good', name: 'All is well' },
    '→': { tone: 'plain', name: 'In progress' },
    '!': { tone: 'warning', name: 'To note' },
    '✗': { tone: 'problem', name: 'Stopped' },
  }

/** What the states of the report's rows mean. */
export const CLASSES: Readonly<Record<ShownState, { readonly tone: Tone; readonly words: string }>> = {
  'in-sync': { tone: 'good', words: 'searchable' },
  'without-text': { tone: 'warning', words: "stored, its text can't be searched" },
  processing: { tone: 'plain', words: 'being processed' },
  'local-only': { tone: 'plain', words: 'not sent yet' },
  'remote-only': { tone: 'plain', words: 'only in the library' },
  changed: { tone: 'plain', words: 'changed since it was sent' },
  superseded: { tone: 'warning', words: 'old version, still searchable' },
  'missing-remotely': { tone: 'problem', words: 'no longer in the library' },
  'needs-attention': { tone: 'problem', words: 'needs attention' },
  unsupported: { tone: 'plain', words: 'not a file' },
  ignored: { tone: 'plain', words: 'left out' },
  unknown: { tone: 'warning', words: 'not known' },
}
