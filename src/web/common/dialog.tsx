import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** It has a main button of its own. */
  readonly hasMain?: boolean
  readonly children: ComponentChildren
  onClose(): void
}

/** A dialog over the page; Esc and its button close it, and the focus goes back to where it was. */
export function Dialog({ title, hasMain = false, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
      <button type="button" class={hasMain ? 'close' : 'main'} onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
