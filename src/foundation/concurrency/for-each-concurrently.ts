import PQueue from 'p-queue'

/** Takes each item only when its work can begin. After the first failure, awaits the work in flight and throws the failure. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = new PQueue({ concurrency: Math.max(1, concurrency) })
  let failure: { readonly reason: unknown } | undefined
  const run = async (item: Item) => {
    if (failure) return
    try {
      await work(item)
    } catch (error) {
      failure ??= { reason: error }
    }
  }
  for (const item of items) {
    if (failure) break
    void queue.add(() => run(item))
    await queue.onSizeLessThan(1)
  }
  await queue.onIdle()
  if (failure) throw failure.reason
}
