import type { ResourceRecord } from '../../contract/records.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { directoriesOfHits, kindsOfHits } from '../common/hit-filters.ts'
import { useSession } from './session.ts'

interface FiltersProps {
  readonly asked: ViewProps['query']
  readonly hits: readonly ResourceRecord[]
}

export function Filters({ asked, hits }: FiltersProps) {
  const { libraries } = useSession()
  const go = (changed: ViewProps['query']) => {
    location.hash = addressOf('search', { ...asked, ...changed })
  }
  return (
    <div class="filters">
      {libraries.length > 1 && (
        <label>
          <span>In</span>
          <select
            value={asked.library ?? ''}
            onChange={({ currentTarget: { value } }) => go({ library: value, directory: '', kind: '' })}
          >
            <option value="">all libraries</option>
            {libraries.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <HitFilter
        label="Below"
        any="any directory"
        value={asked.directory ?? ''}
        counts={directoriesOfHits(hits)}
        onChange={(directory) => go({ directory })}
      />
      <HitFilter
        label="Type"
        any="any type"
        value={asked.kind ?? ''}
        counts={kindsOfHits(hits)}
        onChange={(kind) => go({ kind })}
      />
      <label>
        <input
          type="checkbox"
          checked={asked.versions === 'all'}
          onChange={({ currentTarget: { checked } }) => go({ versions: checked ? 'all' : '' })}
        />
        <span>All versions</span>
      </label>
    </div>
  )
}

interface HitFilterProps {
  readonly label: string
  readonly any: string
  /** An empty text means any. */
  readonly value: string
  readonly counts: readonly (readonly [name: string, hits: number])[]
  onChange(value: string): void
}

function HitFilter({ label, any, value, counts, onChange }: HitFilterProps) {
  if (counts.length === 0 && value === '') return null
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{any}</option>
        {counts.map(([name, count]) => (
          <option key={name} value={name}>
            {name} ({count})
          </option>
        ))}
      </select>
    </label>
  )
}
