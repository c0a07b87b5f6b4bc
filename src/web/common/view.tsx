import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { describeError } from './client.ts'
import { escapeShown } from './shown-text.ts'

interface ViewHeadingProps {
  /** It is also the title of the browser's tab. */
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

/** The state of something that a view loads. While something else is loaded, `value` is what it had before. */
export interface Loaded<T> {
  readonly isLoading: boolean
  readonly value: T | undefined
  /** Why it cannot be loaded; empty if it can. */
  readonly failure: string
  retry(): void
}

/** Loads anew whenever `key` changes or after `retry`; what is out of date by then is cancelled. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [times, setTimes] = useState(0)
  const [state, setState] = useState<Omit<Loaded<T>, 'retry'>>({ isLoading: true, value: undefined, failure: '' })
  useEffect(() => {
    const cancelled = new AbortController()
    const { signal } = cancelled
    setState(({ value }) => ({ isLoading: true, value, failure: '' }))
    load(signal).then(
      (value) => signal.aborted || setState({ isLoading: false, value, failure: '' }),
      (error: unknown) =>
        signal.aborted || setState({ isLoading: false, value: undefined, failure: describeError(error) }),
    )
    return () => cancelled.abort()
  }, [key, times])
  return { ...state, retry: () => setTimes(times + 1) }
}

interface WhenLoadedProps<T> {
  readonly what: string
  readonly found: Pick<Loaded<T>, 'value' | 'failure' | 'retry'>
  children?(value: T): ComponentChildren
}

/** Shows what was loaded, or that it is still missing, or why. */
export function WhenLoaded<T>({ what, found: { value, failure, retry }, children }: WhenLoadedProps<T>) {
  if (failure !== '') return <Failure message={failure} onRetry={retry} />
  return value === undefined ? <Loading what={what} /> : children?.(value)
}

/** Appears only if loading takes a while. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  )
}

export function Failure({ message, onRetry }: { readonly message: string; onRetry(): void }) {
  return (
    <Notice tone="problem">
      <p>{message}</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </Notice>
  )
}

/** What a button does: whether it is being done, and why it failed the last time, empty if it did not. */
export function useAction<T extends unknown[]>(act: (...given: T) => Promise<unknown>) {
  const [state, setState] = useState({ isRunning: false, failure: '' })
  const run = async (...given: T) => {
    setState({ isRunning: true, failure: '' })
    try {
      await act(...given)
      setState({ isRunning: false, failure: '' })
    } catch (error) {
      setState({ isRunning: false, failure: describeError(error) })
    }
  }
  return { ...state, run }
}

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

interface ActionButtonProps {
  readonly label: string
  /** The thing that is acted on, for screen readers, where the label alone does not say it. */
  readonly of?: string
  readonly isDisabled?: boolean
  /** `main` is what most come for, `submit` what Enter does in a field. */
  readonly kind?: 'main' | 'submit'
  run(): Promise<unknown>
}

export function ActionButton({ label, of, isDisabled = false, kind, run }: ActionButtonProps) {
  const { isRunning, failure, run: act } = useAction(run)
  const isUnavailable = isRunning || isDisabled
  return (
    <>
      <button
        type={kind === 'submit' ? 'submit' : 'button'}
        class={kind === 'main' ? 'main' : undefined}
        aria-label={of && `${label}: ${of}`}
        // The attribute "disabled" would take the focus away.
        aria-disabled={isUnavailable}
        onClick={() => isUnavailable || act()}
      >
        {label}
      </button>
      {failure !== '' && (
        <span class="state problem" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}

/** Calls a handler for keys pressed anywhere on the page, but not while the user types or a dialog is open. */
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

/** A command in a message of the server. */
const QUOTED = /(?<=")shelfd (?=[a-z-]+[ "])/g

/** Returns what users of this server type for the program. */
function typedProgram(): string {
  return document.querySelector('meta[name=program]')?.getAttribute('content') ?? 'shelfd'
}

export function asTyped(text: string): string {
  return text.replaceAll(QUOTED, () => `${typedProgram()} `)
}

export function Command({ children }: { readonly children: string }) {
  return (
    <code>
      {typedProgram()} {children}
    </code>
  )
}

interface ChoiceProps {
  /** Not visible: screen readers read it out. */
  readonly label?: string
  readonly class?: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange(value: string): void
}

export function Choice({ label, class: name, value, options, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={name}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}
