/** Takes each item only when its work can begin. After the first failure, awaits the work in flight and throws the failure. */
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
