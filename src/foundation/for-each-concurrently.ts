/**
 * Calls `work` for each item, at most `concurrency` at once. After the first failure no further item is begun; those
 * under way end before it is thrown.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  let failure: { readonly reason: unknown } | undefined
  const lane = async () => {
    for (let next = iterator.next(); !next.done && !failure; next = iterator.next()) {
      try {
        await work(next.value)
      } catch (error) {
        failure ??= { reason: error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, lane))
  if (failure) throw failure.reason
}
