import { InterruptedError } from '../errors.ts'

/** Returns what `shared` resolves to, or throws InterruptedError when `signal` is aborted first; `shared` continues for other callers. */
export async function orAbort<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(new InterruptedError())
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  return Promise.race([shared, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}
