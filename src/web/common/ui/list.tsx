import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(last, at + 1),
  ArrowUp: (at) => Math.max(0, at - 1),
  Home: () => 0,
  End: (_at, last) => last,
}

interface ListProps {
  /** For screen readers. */
  readonly label: string
  /** The item whose link leads here gets the focus: that from which the reader comes back. */
  readonly cameFrom: string
  readonly children: ComponentChildren
}

/** A list whose items each hold one link with the class `item`; arrow keys, Home and End go from one to the next. */
export function List({ label, cameFrom, children }: ListProps) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    const link = itemsOf(list.current).find((each) => each.getAttribute('href') === cameFrom)
    link?.focus()
  }, [cameFrom])
  const step = (event: KeyboardEvent) => {
    const items = itemsOf(list.current)
    const next = STEPS[event.key]?.(items.indexOf(document.activeElement as HTMLElement), items.length - 1)
    if (next === undefined) return
    event.preventDefault()
    items[next]?.focus()
  }
  return (
    <ul ref={list} class="list" aria-label={label} onKeyDown={step}>
      {children}
    </ul>
  )
}

function itemsOf(list: Element | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('.item') ?? [])]
}

/** Puts the focus on the first item of the list shown, if there is one. */
export function focusFirstItem(): void {
  itemsOf(document.querySelector('.list'))[0]?.focus()
}
