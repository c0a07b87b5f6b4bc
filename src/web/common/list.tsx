import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useKeys } from './view.tsx'

/** For each key, the index of the item that gets the focus after item `at`. -1 means no item; only arrow keys lead from it to an item. */
const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(last, at + 1),
  ArrowUp: (at) => Math.max(0, at - 1),
  Home: (at) => Math.min(0, at),
  End: (at, last) => (at === -1 ? -1 : last),
}

interface ListProps {
  readonly label: string
  /** The address that the reader comes back from; the item that links to it gets the focus. */
  readonly cameFrom: string
  readonly children: ComponentChildren
}

/** A list whose items each hold one link with the class `item`. Arrow keys, Home and End move the focus in it; arrow keys also enter it. */
export function List({ label, cameFrom, children }: ListProps) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    const link = itemsOf(list.current).find((each) => each.getAttribute('href') === cameFrom)
    link?.focus()
  }, [cameFrom])
  const step = (event: KeyboardEvent) => {
    const items = itemsOf(list.current)
    const at = items.indexOf(document.activeElement as HTMLElement)
    const next = items[STEPS[event.key]?.(at, items.length - 1) ?? -1]
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  useKeys(Object.fromEntries(Object.keys(STEPS).map((key) => [key, step])))
  return (
    <ul ref={list} class="list" aria-label={label}>
      {children}
    </ul>
  )
}

function itemsOf(list: Element | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('.item') ?? [])]
}

export function focusFirstItem(): void {
  itemsOf(document.querySelector('.list'))[0]?.focus()
}
