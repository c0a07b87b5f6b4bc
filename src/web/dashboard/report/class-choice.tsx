import type { ClassCounts } from '../../../contract/dashboard/shapes.ts'
import { SHOWN_STATES, type ShownState } from '../../../contract/report-classes.ts'
import { formatNumber } from '../../common/format.ts'
import { CLASSES } from '../words.ts'

interface ClassChoiceProps {
  readonly counts: ClassCounts
  /** All when it is empty. */
  readonly chosen: readonly ShownState[]
  onChange(chosen: readonly ShownState[]): void
}

/** The classes that there are, with their numbers; each can be switched on and off. */
export function ClassChoice({ counts, chosen, onChange }: ClassChoiceProps) {
  const present = SHOWN_STATES.filter((name) => (counts[name] ?? 0) > 0 || chosen.includes(name))
  const toggle = (name: ShownState) =>
    onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name])
  return (
    <fieldset class="classes">
      <legend class="spoken">Only rows that are</legend>
      {present.map((name) => (
        <button key={name} type="button" aria-pressed={chosen.includes(name)} onClick={() => toggle(name)}>
          <span class={`dot class-${name}`} aria-hidden="true" />
          {CLASSES[name].words} {formatNumber(counts[name] ?? 0)}
        </button>
      ))}
    </fieldset>
  )
}
