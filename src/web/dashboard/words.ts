import type { MirrorOverview } from '../../contract/dashboard/shapes.ts'
import type { Tone } from '../common/words.ts'
import type { View } from './routes.ts'

export const TITLES: Readonly<Record<View, string>> = {
  mirrors: 'Mirrors',
  problems: 'Problems',
}

/** What the sign of a mirror's state says, in colour and for screen readers. */
export const SIGNS: Readonly<Record<MirrorOverview['state']['sign'], { readonly tone: Tone; readonly name: string }>> =
  {
    '✓': { tone: 'good', name: 'All is well' },
    '→': { tone: 'plain', name: 'In progress' },
    '!': { tone: 'warning', name: 'To note' },
    '✗': { tone: 'problem', name: 'Stopped' },
  }
