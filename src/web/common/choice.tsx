interface ChoiceProps {
  /** Only read out. */
  readonly label?: string
  readonly class?: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange(value: string): void
}

export function Choice({ label, class: name, value, options, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={name}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}
