import { TemporaryError } from '../errors.ts'

/** Throws TemporaryError('answer-late') after `limitMs`; `work` continues unobserved. */
export async function withinTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new TemporaryError('answer-late', `no answer within ${limitMs / 1_000} s`))
  }, limitMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
