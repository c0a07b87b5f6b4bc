import type { ProblemCount } from '../../../contract/dashboard.ts'
import { formatNumber } from '../../common/format.ts'
import { describePlace } from '../labels.ts'

interface GroupChoiceProps {
  readonly label: string
  readonly groups: readonly ProblemCount[]
  /** Empty for all. */
  readonly chosen: string
  onChoose(key: string): void
}

/** The groups of problems with their numbers, the largest first; one can be chosen. Shows nothing where there is no choice. */
export function GroupChoice({ label, groups, chosen, onChoose }: GroupChoiceProps) {
  if (groups.length < 2 && chosen === '') return null
  const shown =
    groups.some(({ key }) => key === chosen) || chosen === '' ? groups : [{ key: chosen, count: 0 }, ...groups]
  return (
    <fieldset class="classes">
      <legend class="quiet">{label}</legend>
      {shown.map(({ key, count }) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === chosen}
          onClick={() => onChoose(key === chosen ? '' : key)}
        >
          {describePlace(key)} {formatNumber(count)}
        </button>
      ))}
    </fieldset>
  )
}
