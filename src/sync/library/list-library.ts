import { joinLibraryPath, normalizeLibraryPath } from '../../contract/library-path.ts'
import type { DirectoryPage } from '../../contract/records.ts'
import { traverseConcurrently } from '../../foundation/concurrency/run-concurrently.ts'
import { isNotFound, messageOf, ShelfdError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import type { ListedEntry } from '../../store/tables/report-queries.ts'

export interface Listing {
  /** Directories that could not be listed completely; what they hold is unknown, never absent (P11, files hidden by an error). */
  readonly incomplete: readonly UnlistedDirectory[]
}

export interface UnlistedDirectory {
  readonly path: string
  readonly reason: string
}

export interface ListingTarget {
  readonly client: ServiceClient
  readonly libraryId: number
  readonly remoteId: string
  /** How many directories are listed at once: `limits.transfers`. */
  readonly concurrency: number
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly add: (entries: readonly ListedEntry[]) => void
  readonly addFolder?: (path: string) => void
  /** Library paths to list, which may be absent; by default the whole library. */
  readonly from?: readonly string[]
}

export interface ListingBounds {
  readonly levels: number
  /** Requests for the whole library, one for each page. */
  readonly requests: number
}

/** No mirror exceeds these bounds. A listing that exceeds them has folders that contain themselves, or endless pages. */
const BOUNDS: ListingBounds = { levels: 256, requests: 1_000_000 }

/** The longest path of a folder that is listed; a local path has at most 4,096 bytes. */
const MAX_PATH = 8_192
const MAX_NAME = 120

/**
 * Lists a library, directories in parallel, and passes the files of each page to `add`. A library that exceeds `bounds` is listed
 * incompletely. Throws errors that concern the service as a whole.
 */
export async function listRemote(target: ListingTarget, bounds = BOUNDS): Promise<Listing> {
  const walk: RemoteWalk = { target, requestsLeft: bounds.requests - 1, incomplete: [] }
  let isTooDeep = false
  // Breadth first, but without waiting for the whole level: one directory of many pages does not hold the others up.
  const start = (target.from ?? ['/']).map((path) => ({ path, depth: 0 }))
  await traverseConcurrently(start, target.concurrency, async ({ path, depth }) => {
    const below = await listDirectory(walk, path)
    if (depth < bounds.levels) return below.map((folder) => ({ path: folder, depth: depth + 1 }))
    isTooDeep ||= below.length > 0
    return []
  })
  if (isTooDeep) recordIncomplete(walk, '/', `its folders are nested more than ${bounds.levels} levels deep`)
  if (walk.requestsLeft < 0) recordIncomplete(walk, '/', `it needs more than ${bounds.requests} requests`)
  return { incomplete: walk.incomplete }
}

interface RemoteWalk {
  readonly target: ListingTarget
  requestsLeft: number
  readonly incomplete: UnlistedDirectory[]
}

async function listDirectory(walk: RemoteWalk, path: string): Promise<readonly string[]> {
  try {
    return await listPages(walk, path)
  } catch (error) {
    if (!isOfOneDirectory(error)) throw error
    if (!isNotFound(error) || !walk.target.from?.includes(path)) recordIncomplete(walk, path, messageOf(error))
    return []
  }
}

/** Lists the pages of one directory; returns the paths of its folders, but none if a bound was reached. */
async function listPages(walk: RemoteWalk, path: string): Promise<string[]> {
  const { target } = walk
  const below: string[] = []
  if (walk.requestsLeft < 0) return below
  let unusableName: string | undefined
  for await (const page of target.client.listDirectory(target.remoteId, path, target.signal)) {
    // A page without files is not passed on, because the caller would begin a transaction for it.
    if (page.files.length > 0) target.add(entriesOf(page, target.libraryId, path))
    for (const { name } of page.folders) {
      const folder = pathOfFolder(path, name)
      if (folder === undefined) unusableName ??= name
      else {
        below.push(folder)
        target.addFolder?.(folder)
      }
    }
    // Each folder counts as a request as soon as it is found, so that the queue of folders is bounded as well.
    walk.requestsLeft -= page.folders.length + Number(page.truncated)
    if (walk.requestsLeft < 0) return []
  }
  if (unusableName !== undefined) {
    const shown = escapeText(truncateText(unusableName, MAX_NAME))
    recordIncomplete(walk, path, `its folder "${shown}" has a name that no path can contain`)
  }
  return below
}

function recordIncomplete({ target, incomplete }: RemoteWalk, path: string, reason: string): void {
  target.logger.warn('cannot list a directory of the library', { path, reason })
  incomplete.push({ path, reason })
}

/** Returns undefined for a name that no path can hold, such as `..` or one with a slash. */
function pathOfFolder(directory: string, name: string): string | undefined {
  const path = joinLibraryPath(directory, name)
  return path.length <= MAX_PATH && !name.includes('/') && normalizeLibraryPath(path) === path ? path : undefined
}

function entriesOf(page: DirectoryPage, libraryId: number, directory: string): ListedEntry[] {
  return page.files.map(({ id, filename, title, mime_type: mime }) => {
    return { libraryId, resourceId: id, directory, filename, title, mime }
  })
}

/** Returns whether an error concerns one directory; a refused credential or an interruption ends the whole listing. */
function isOfOneDirectory(error: unknown): boolean {
  return error instanceof ShelfdError && (error.kind === 'temporary' || error.kind === 'request')
}
