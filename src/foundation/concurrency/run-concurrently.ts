/** Gets each item only when its work can begin. After the first failure, awaits the work in flight and throws the failure. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const shared = items[Symbol.iterator]()
  let failure: { readonly reason: unknown } | undefined
  const worker = async () => {
    try {
      while (!failure) {
        const { done, value } = shared.next()
        if (done) break
        await work(value)
      }
    } catch (error) {
      failure ??= { reason: error }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
  if (failure) throw failure.reason
}

/** Visits the items of `start` and those that a visit returns, in order. Fails like `forEachConcurrently`. */
export async function traverseConcurrently<Item extends object>(
  start: readonly Item[],
  concurrency: number,
  visit: (item: Item) => Promise<readonly Item[]>,
): Promise<void> {
  let failure: { readonly reason: unknown } | undefined
  let inFlight = 0
  let waiting = start
  let next = 0
  let later: Item[] = []
  const nextItem = (): Item | undefined => {
    if (next === waiting.length) {
      waiting = later
      later = []
      next = 0
    }
    const item = waiting[next]
    if (item !== undefined) next += 1
    return item
  }
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const run = async (item: Item) => {
    try {
      for (const found of await visit(item)) later.push(found)
    } catch (error) {
      failure ??= { reason: error }
    }
    inFlight -= 1
    startMore()
  }
  const startMore = () => {
    while (!failure && inFlight < Math.max(1, concurrency)) {
      const item = nextItem()
      if (item === undefined) break
      inFlight += 1
      void run(item)
    }
    if (inFlight === 0) resolve()
  }
  startMore()
  await ended
  if (failure) throw failure.reason
}

/** Runs both works at the same time. The first failure aborts the other work, and is thrown once both have ended. */
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
  // Throws the first failure, because the failure of the aborted work says less.
  stop.signal.throwIfAborted()
  return await Promise.all(works)
}
