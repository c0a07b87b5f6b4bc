import { isNotFound } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import type { Store, StoreReader } from '../../store/open-store.ts'
import type { StoredResource, UnusedResource } from '../../store/tables/unused-resources.ts'

/** The code of a content that a person removed from the library. */
const REMOVED = 'removed'
/** Each group takes two commits. */
const MAX_GROUP = 100
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

/** `unused` begins a removal unless a file has the resource by now, `withheld` in any case; `gone` says that it is done. */
export interface Removal {
  readonly resources: readonly Pick<StoredResource, 'contentId' | 'resourceId'>[]
  readonly as: 'unused' | 'withheld' | 'gone'
}

/** Returns the contents about which it recorded something. */
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
  /** Does `recordRemoval` where the store is open. */
  record(removal: Removal): Promise<readonly number[]>
}

/**
 * Removes resources from their library, and returns how many. Before a removal the resource no longer counts as stored, so that no run
 * relies on what is gone, whenever the process is killed; `finishRemovals` removes the rest then.
 */
export async function removeResources(
  context: RemovalContext,
  resources: readonly StoredResource[],
  as: 'unused' | 'withheld',
): Promise<number> {
  let removed = 0
  for (let start = 0; start < resources.length; start += MAX_GROUP) {
    const group = resources.slice(start, start + MAX_GROUP)
    const recorded = new Set(await context.record({ resources: group.map(namesOf), as }))
    // This state has no content of what other programs put there.
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
  if (resources.length > 0) await record({ resources: resources.map(namesOf), as: 'gone' })
}

/** Paths would make the request to a daemon too large. */
function namesOf({ contentId, resourceId }: StoredResource) {
  return { contentId, resourceId }
}
