import { useLayoutEffect } from 'preact/hooks'

/** Calls a handler for keys pressed anywhere on the page, but not while somebody types or a dialog is open. */
export function useKeys(handlers: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  // Before the page is painted: what is shown hears keys.
  useLayoutEffect(() => {
    const handle = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]') || isTyping(event.target)) return
      handlers[event.key]?.(event)
    }
    addEventListener('keydown', handle)
    return () => removeEventListener('keydown', handle)
  })
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea')
}
