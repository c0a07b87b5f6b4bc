import type { ComponentChildren } from 'preact'

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

/** `part` from 0 to 1; undefined while nothing is known. */
export function ProgressBar({ label, part }: { readonly label: string; readonly part: number | undefined }) {
  return part === undefined ? <progress aria-label={label} /> : <progress aria-label={label} value={part} max={1} />
}
