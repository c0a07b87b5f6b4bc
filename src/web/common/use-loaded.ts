import { useEffect, useState } from 'preact/hooks'

/** The state of something that a view loads. While something else is loaded, `value` is what it had before. */
export interface Loaded<T> {
  readonly isLoading: boolean
  readonly value: T | undefined
  readonly error: unknown
  retry(): void
}

/** Loads anew whenever `key` changes or after `retry`; what is out of date by then is cancelled. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [times, setTimes] = useState(0)
  const [state, setState] = useState<Omit<Loaded<T>, 'retry'>>({ isLoading: true, value: undefined, error: undefined })
  useEffect(() => {
    const cancelled = new AbortController()
    const { signal } = cancelled
    setState(({ value }) => ({ isLoading: true, value, error: undefined }))
    load(signal).then(
      (value) => signal.aborted || setState({ isLoading: false, value, error: undefined }),
      (error: unknown) => signal.aborted || setState({ isLoading: false, value: undefined, error }),
    )
    return () => cancelled.abort()
  }, [key, times])
  return { ...state, retry: () => setTimes(times + 1) }
}
