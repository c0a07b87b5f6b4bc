import { formatNumber } from '../../common/format.ts'

interface PagerProps {
  /** Counted from 1. */
  readonly page: number
  readonly pages: number
  onGo(page: number): void
}

/** Leads through the pages of a table; shows nothing for a single one. */
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
      {steps.map(([words, to, isPossible]) => (
        <button key={words} type="button" disabled={!isPossible} onClick={() => onGo(to)}>
          {words}
        </button>
      ))}
      <span class="quiet">
        Page {formatNumber(page)} of {formatNumber(pages)}
      </span>
    </nav>
  )
}
