import { isNotFound } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import type { Store, StoreReader } from '../../store/open-store.ts'
import type { StoredResource, UnusedResource } from '../../store/tables/unused-resources.ts'

/** The code of a content that a person removed from the library. */
const REMOVED = 'removed'
/** How many resources are removed together; each group takes two commits. */
const MAX_GROUP = 100
const WHY_REMOVED = 'you removed it from the library'

export interface PruneBounds {
  /** Wall clock: a resource that had a file after this time is kept. */
  readonly endedBefore: number
  /** How many of the newest unused contents of each path are kept; the one in use does not count. */
  readonly keepVersions: number
}

/** Returns the resources of the service `origin` that no file uses any more and that the bounds allow to be removed. */
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

/** `unused` begins removals, except of resources that a file uses again; `withheld` begins all removals; `gone` records their end. */
export interface Removal {
  readonly resources: readonly Pick<StoredResource, 'contentId' | 'resourceId'>[]
  readonly as: 'unused' | 'withheld' | 'gone'
}

/** Returns the ids of the contents whose removal was recorded. */
export function recordRemoval(store: Store, { resources, as }: Removal): number[] {
  const { release, withhold, forget } = store.unusedResources
  const record = {
    unused: release,
    withheld: (resource: Removal['resources'][number]) => withhold(resource, { code: REMOVED, message: WHY_REMOVED }),
    gone: forget,
  }[as]
  return store.write(() => resources.filter(record).map(({ contentId }) => contentId))
}

interface RemovalContext {
  readonly client: Pick<ServiceClient, 'deleteResource'>
  readonly signal: AbortSignal
  /** Calls `recordRemoval` in the process that has the store open. */
  record(removal: Removal): Promise<readonly number[]>
}

/**
 * Removes resources from their library, and returns how many. A resource stops counting as stored before it is removed, so that no run
 * relies on it if the process is killed before the removal; `finishRemovals` then completes it.
 */
export async function removeResources(
  context: RemovalContext,
  resources: readonly StoredResource[],
  as: 'unused' | 'withheld',
): Promise<number> {
  let removed = 0
  for (let start = 0; start < resources.length; start += MAX_GROUP) {
    const group = resources.slice(start, start + MAX_GROUP)
    const recorded = new Set(await context.record({ resources: group.map(idsOf), as }))
    // Resources that other programs uploaded have no content in this store, so nothing was recorded for them.
    const due = group.filter(({ contentId }) => as === 'withheld' || recorded.has(contentId))
    await finishRemovals(context, due)
    removed += due.length
  }
  return removed
}

/** Removes resources whose removal was begun. */
export async function finishRemovals(
  { client, signal, record }: RemovalContext,
  resources: readonly StoredResource[],
): Promise<void> {
  for (const { libraryId, resourceId } of resources) {
    try {
      await client.deleteResource(libraryId, resourceId, signal)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  if (resources.length > 0) await record({ resources: resources.map(idsOf), as: 'gone' })
}

/** Leaves out paths, which would make the request to a daemon too large. */
function idsOf({ contentId, resourceId }: StoredResource) {
  return { contentId, resourceId }
}
