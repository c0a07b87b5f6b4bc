import type { MirrorOverview } from '../../../contract/dashboard.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { CLASSES } from '../labels.ts'

type Files = MirrorOverview['files']

/** The parts of the bar: the states of files, the best first. `singular` is the label of one file. */
const PARTS: readonly {
  readonly key: string
  readonly label: string
  readonly singular?: string
  count(files: Files): number
}[] = [
  { key: 'searchable', label: 'searchable', count: ({ searchable }) => searchable },
  {
    key: 'without-text',
    label: "stored, their text can't be searched",
    singular: CLASSES['without-text'].label,
    count: ({ withoutText }) => withoutText,
  },
  { key: 'in-ingestion', label: 'being processed', count: ({ inIngestion }) => inIngestion },
  { key: 'sending', label: 'being sent', count: ({ sending }) => sending },
  { key: 'to-send', label: 'to send', count: ({ toSend }) => toSend },
  {
    key: 'in-doubt',
    label: 'not known whether they arrived',
    singular: 'not known whether it arrived',
    count: ({ inDoubt }) => inDoubt,
  },
  {
    key: 'need-attention',
    label: 'need attention',
    singular: 'needs attention',
    count: ({ needAttention }) => needAttention,
  },
  { key: 'set-aside', label: 'set aside', count: ({ setAside }) => setAside },
]

export function FileBar({ files }: { readonly files: Files }) {
  const parts = PARTS.map((part) => ({ ...part, n: part.count(files) })).filter(({ n }) => n > 0)
  if (parts.length === 0) return <p class="quiet">No files are known yet.</p>
  return (
    <div class="files">
      <div class="bar" aria-hidden="true">
        {parts.map(({ key, n }) => (
          <span key={key} class={`part ${key}`} style={{ flexGrow: n }} />
        ))}
      </div>
      <ul class="legend" aria-label={counted(files.known, 'file')}>
        {parts.map(({ key, label, singular = label, n }) => (
          <li key={key}>
            <span class={`dot ${key}`} aria-hidden="true" />
            {formatNumber(n)} {n === 1 ? singular : label}
          </li>
        ))}
      </ul>
    </div>
  )
}
