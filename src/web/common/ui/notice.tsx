import type { ComponentChildren } from 'preact'
import { wordsOf } from '../api/failure.ts'

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

/** What went wrong, in words, and a button to try it again. */
export function Failure({ error, onRetry }: { readonly error: unknown; onRetry(): void }) {
  return (
    <Notice tone="problem">
      <p>{wordsOf(error)}</p>
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
