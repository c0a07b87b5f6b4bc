import type { ComponentChildren } from 'preact'
import { describeError } from './client.ts'

interface NoticeProps {
  readonly tone: 'plain' | 'warning' | 'problem'
  readonly children: ComponentChildren
}

/** Something that the reader should know; a problem is read out at once. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'problem' ? 'alert' : 'note'}>
      {children}
    </div>
  )
}

export function Failure({ error, onRetry }: { readonly error: unknown; onRetry(): void }) {
  return (
    <Notice tone="problem">
      <p>{describeError(error)}</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </Notice>
  )
}

/** Appears only if loading takes a while. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  )
}

/** `part` from 0 to 1; undefined while nothing is known. */
export function ProgressBar({ label, part }: { readonly label: string; readonly part: number | undefined }) {
  return part === undefined ? <progress aria-label={label} /> : <progress aria-label={label} value={part} max={1} />
}
