import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from './client.ts'
import { Notice } from './notice.tsx'

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
