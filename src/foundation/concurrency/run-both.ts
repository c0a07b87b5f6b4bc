/** The first failure aborts the other work, and is thrown once both have ended. */
export async function runBoth<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<[One, Other]> {
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const stoppingOther = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    try {
      return await work(both)
    } catch (error) {
      stop.abort(error)
      throw error
    }
  }
  const works = [stoppingOther(one), stoppingOther(other)] as const
  await Promise.allSettled(works)
  // The first failure is the reason; the result of the abort says less.
  stop.signal.throwIfAborted()
  return await Promise.all(works)
}
