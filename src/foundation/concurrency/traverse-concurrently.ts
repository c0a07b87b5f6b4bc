/**
 * Visits each item of `start` and each that a visit returns, in order. After the first failure, awaits the visits in flight and throws
 * the failure.
 */
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
  const take = (): Item | undefined => {
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
      const item = take()
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
