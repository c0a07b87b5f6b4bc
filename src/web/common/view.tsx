import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { describeError } from './client.ts'
import { escapeShown } from './shown-text.ts'

interface ViewHeadingProps {
  /** Also the title of the browser's tab. */
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
  /** Completes "Loading …", as in `the hosts`. */
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

/** The state of the data that a view loads. While it is loaded again, `value` is the data from before. */
export interface Loaded<T> {
  readonly isLoading: boolean
  readonly value: T | undefined
  /** Why loading failed; empty if it did not. */
  readonly failure: string
  retry(): void
}

/** Loads data at first, whenever `key` changes and after `retry`; cancels a load that is out of date. */
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

/** Shows what was loaded, or that it is loading, or why it cannot be loaded. */
export function WhenLoaded<T>({ what, found: { value, failure, retry }, children }: WhenLoadedProps<T>) {
  if (failure !== '') return <Failure message={failure} onRetry={retry} />
  return value === undefined ? <Loading what={what} /> : children?.(value)
}

/** Says what is loading; it appears only if loading takes a while. */
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

/** Returns `run` for the action of a button, whether it is running, and why the last run failed (empty if it did not). */
export function useAction<T extends unknown[]>(act: (...args: T) => Promise<unknown>) {
  const [state, setState] = useState({ isRunning: false, failure: '' })
  const run = async (...args: T) => {
    setState({ isRunning: true, failure: '' })
    try {
      await act(...args)
      setState({ isRunning: false, failure: '' })
    } catch (error) {
      setState({ isRunning: false, failure: describeError(error) })
    }
  }
  return { ...state, run }
}

/** A message for the user; screen readers read out a problem at once. */
export function Notice({ tone, children }: { tone: 'plain' | 'warning' | 'problem'; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'problem' ? 'alert' : 'note'}>
      {children}
    </div>
  )
}

interface DialogProps {
  readonly title: string
  /** Whether the content has a main button; otherwise Close is the main one. */
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
  /** What the button acts on, for screen readers, if the label alone does not say it. */
  readonly of?: string
  readonly isDisabled?: boolean
  /** `main` is the usual action, `submit` what Enter does in a field. */
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
  // Runs before the page is painted, so that no key is lost.
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

/** Matches the name of the program in a command that a message of the server quotes. */
const QUOTED = /(?<=")shelfd (?=[a-z-]+[ "])/g

/** Returns what the users of this server type to run the program. */
function typedProgram(): string {
  return document.querySelector('meta[name=program]')?.getAttribute('content') ?? 'shelfd'
}

/** Returns a message whose commands begin with what the users type. */
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
  /** For screen readers; it is not visible. */
  readonly label?: string
  readonly class?: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange(value: string): void
}

export function Choice({ label, class: className, value, options, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={className}
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
