import { isNotFound } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import type { Store, StoreReader } from '../../store/open-store.ts'
import type { StoredResource, UnusedResource } from '../../store/tables/unused-resources.ts'

/** The code of a content that a person removed from the library. */
const REMOVED = 'removed'
const WHY_REMOVED = 'you removed it from the library'

export interface PruneBounds {
  /** Wall clock: what has had a file since then stays. */
  readonly endedBefore: number
  /** This number of the newest contents of each path stays. */
  readonly keepVersions: number
}

/** Returns the resources of the service `origin` for which no file stands any more, within the bounds. */
export function listPrunable(
  store: StoreReader,
  origin: string,
  { endedBefore, keepVersions }: PruneBounds,
): UnusedResource[] {
  const newestFirst = store.unusedResources.list(origin).toReversed()
  const kept = new Map<string, number>()
  const prunable = newestFirst.filter(({ mirrorId, path, endedAt }) => {
    const key = `${mirrorId} ${path}`
    const count = kept.get(key) ?? 0
    if (count < keepVersions) kept.set(key, count + 1)
    return count >= keepVersions && endedAt < endedBefore
  })
  return prunable.reverse()
}

/**
 * `unused`: their resources will be removed, unless a file has one meanwhile; `gone`: they were; `withheld`: they were, and are not sent
 * again before somebody asks for it.
 */
export interface Removal {
  readonly contentIds: readonly number[]
  readonly as: 'unused' | 'gone' | 'withheld'
}

/** Returns how many of the contents the state had stored until now. */
export function recordRemoval(store: Store, { contentIds, as }: Removal): number {
  const { forgetUnused, forget, withhold } = store.unusedResources
  const record = {
    unused: forgetUnused,
    gone: forget,
    withheld: (id: number) => withhold(id, { code: REMOVED, message: WHY_REMOVED }),
  }[as]
  return store.write(() => contentIds.filter((id) => record(id)).length)
}

/** Removes a resource from the library. One that is gone already is as well removed. */
export async function removeResource(
  client: ServiceClient,
  { libraryId, resourceId }: Pick<StoredResource, 'libraryId' | 'resourceId'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.deleteResource(libraryId, resourceId, signal)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
