import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Loaded, WhenLoaded } from './loaded.tsx'
import { escapeShown } from './shown-text.ts'

interface ViewHeadingProps {
  /** Also that of the browser's tab. */
  readonly title: string
  /** True when the heading takes the focus, so that a screen reader reads it when the view changes. */
  readonly takesFocus: boolean
  readonly children?: ComponentChildren
}

export function nameOfPage(): string {
  return document.querySelector('meta[name=application-name]')?.getAttribute('content') ?? ''
}

export function ViewHeading({ title, takesFocus, children }: ViewHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    document.title = escapeShown(`${title} · ${nameOfPage()}`)
    if (takesFocus) heading.current?.focus()
  }, [title, takesFocus])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children ?? title}
    </h1>
  )
}

interface UnloadedProps extends Pick<ViewHeadingProps, 'title' | 'takesFocus'> {
  readonly what: string
  readonly found: Loaded<unknown>
}

export function Unloaded({ title, takesFocus, what, found }: UnloadedProps) {
  return (
    <section>
      <ViewHeading title={title} takesFocus={takesFocus} />
      <WhenLoaded what={what} found={found} />
    </section>
  )
}
