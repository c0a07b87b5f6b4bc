import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { formatNumber } from '../common/format.ts'

/** How long after the last key the filter is applied. */
const TYPING_MS = 200

export function TextFilter({ text, onChange }: { readonly text: string; onChange(text: string): void }) {
  const [typed, setTyped] = useState(text)
  // Runs before the user can type.
  useLayoutEffect(() => setTyped(text), [text])
  useEffect(() => {
    if (typed === text) return
    const timer = setTimeout(() => onChange(typed), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, text])
  return (
    <input
      type="search"
      aria-label="Filter by name"
      placeholder="Filter by name"
      maxLength={1_000}
      value={typed}
      onInput={({ currentTarget: { value } }) => setTyped(value)}
    />
  )
}

interface PagerProps {
  /** Counted from 1. */
  readonly page: number
  readonly pages: number
  onGo(page: number): void
}

export function Pager({ page, pages, onGo }: PagerProps) {
  if (pages <= 1) return null
  const steps = [
    ['First', 1, page > 1],
    ['Previous', page - 1, page > 1],
    ['Next', page + 1, page < pages],
    ['Last', pages, page < pages],
  ] as const
  return (
    <nav class="pager" aria-label="Pages">
      {steps.map(([label, to, isPossible]) => (
        <button key={label} type="button" disabled={!isPossible} onClick={() => onGo(to)}>
          {label}
        </button>
      ))}
      <span class="quiet">
        Page {formatNumber(page)} of {formatNumber(pages)}
      </span>
    </nav>
  )
}
