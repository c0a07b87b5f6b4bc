import { joinLibraryPath } from '../contract/library-path.ts'
import type { DirectoryPage } from '../contract/records.ts'
import { messageOf, ShelfdError } from '../foundation/errors.ts'
import { forEachConcurrently } from '../foundation/for-each-concurrently.ts'
import type { Logger } from '../foundation/logger.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import type { ListedEntry } from '../store/report-rows.ts'

export interface Listing {
  /** Directories that could not be listed whole: what they and those below hold is unknown, never absent (P11). */
  readonly incomplete: readonly { readonly path: string; readonly reason: string }[]
}

export interface ListingTarget {
  readonly client: ServiceClient
  readonly libraryId: number
  readonly remoteId: string
  readonly concurrency: number
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly add: (entries: readonly ListedEntry[]) => void
}

/** Lists a whole library, directories in parallel, and gives each page's files to `add` as it comes. */
export async function listRemote(target: ListingTarget): Promise<Listing> {
  const incomplete: { path: string; reason: string }[] = []
  // Breadth first: a level's directories are known before the next level is asked for.
  for (let level = ['/']; level.length > 0; ) {
    const below: string[] = []
    await forEachConcurrently(level, target.concurrency, async (path) => {
      try {
        below.push(...(await listOne(target, path)))
      } catch (error) {
        if (!isOfOneDirectory(error)) throw error
        target.logger.warn('cannot list a directory', { path, reason: messageOf(error) })
        incomplete.push({ path, reason: messageOf(error) })
      }
    })
    level = below
  }
  return { incomplete }
}

/** Lists one directory; gives the paths of those below only when all its pages came. */
async function listOne(target: ListingTarget, path: string): Promise<string[]> {
  const below: string[] = []
  for await (const page of target.client.listDirectory(target.remoteId, path, target.signal)) {
    target.add(entriesOf(page, target.libraryId, path))
    for (const { name } of page.folders) below.push(joinLibraryPath(path, name))
  }
  return below
}

function entriesOf(page: DirectoryPage, libraryId: number, directory: string): ListedEntry[] {
  return page.files.map(({ id, filename, title, mime_type: mime }) => {
    return { libraryId, resourceId: id, directory, filename, title, mime }
  })
}

/** A credential that is refused or a stop concerns the whole listing, not one directory. */
function isOfOneDirectory(error: unknown): boolean {
  return error instanceof ShelfdError && (error.reaction === 'temporary' || error.reaction === 'rejected')
}
