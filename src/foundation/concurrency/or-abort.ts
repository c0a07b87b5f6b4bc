import { InterruptedError, ShelfdError } from '../errors.ts'

/**
 * Throws the signal's reason, or InterruptedError where that is not an error of shelfd, when aborted first. `shared` continues for other
 * callers.
 */
export async function orAbort<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason instanceof ShelfdError ? signal.reason : new InterruptedError())
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  return Promise.race([shared, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}
