import type { MirrorOverview } from '../../contract/dashboard.ts'
import type { ShownState } from '../../contract/report-classes.ts'
import type { Tone } from '../common/labels.ts'

/** The tone of each sign of a mirror's state, and what screen readers say for it. */
export const SIGNS: Readonly<Record<MirrorOverview['state']['sign'], { readonly tone: Tone; readonly name: string }>> =
  {
    '✓': { tone: 'good', name: 'All is well' },
    '→': { tone: 'plain', name: 'In progress' },
    '!': { tone: 'warning', name: 'To note' },
    '✗': { tone: 'problem', name: 'Stopped' },
  }

export const CLASSES: Readonly<Record<ShownState, { readonly tone: Tone; readonly label: string }>> = {
  'in-sync': { tone: 'good', label: 'searchable' },
  'without-text': { tone: 'warning', label: "stored, its text can't be searched" },
  processing: { tone: 'plain', label: 'being processed' },
  'local-only': { tone: 'plain', label: 'not sent yet' },
  'remote-only': { tone: 'plain', label: 'only in the library' },
  changed: { tone: 'plain', label: 'changed since it was sent' },
  superseded: { tone: 'warning', label: 'replaced by a newer version' },
  gone: { tone: 'warning', label: 'gone, still in the library' },
  'left-out': { tone: 'warning', label: 'left out, still in the library' },
  'missing-remotely': { tone: 'problem', label: 'no longer in the library' },
  'needs-attention': { tone: 'problem', label: 'needs attention' },
  'set-aside': { tone: 'plain', label: 'set aside' },
  unsupported: { tone: 'plain', label: 'not a file' },
  ignored: { tone: 'plain', label: 'left out' },
  unknown: { tone: 'warning', label: 'not known' },
}

/** Returns `MIRROR: PATH` as users see it: `Papers: .` becomes `Papers: top directory`. */
export function describePlace(place: string): string {
  return place.replace(/: \.$/, ': top directory')
}
