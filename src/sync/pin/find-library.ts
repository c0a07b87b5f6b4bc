import type { LibrarySummary } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import type { Connection } from '../engine.ts'

/** The most identifiers that an error lists, and names that a search returns. */
const MAX_LISTED = 10
const MAX_NAMES = 1_000

export interface LibrarySearch {
  readonly library: LibrarySummary | undefined
  /** Names that were listed, for suggestions. */
  readonly names: readonly string[]
}

/**
 * Finds the library with this identifier, or the only one with this name, first in the access context (4.1). Throws
 * UsageError `unknown-library` if several libraries have the name.
 */
export async function findLibrary(
  { client, access }: Connection,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySummary | undefined> {
  return pickLibrary(access.libraries, idOrName) ?? (await searchLibraries(client, idOrName, signal)).library
}

/** Does the same in the list of all libraries that the credential shows. */
export async function searchLibraries(
  client: Pick<ServiceClient, 'listLibraries'>,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySearch> {
  const candidates: LibrarySummary[] = []
  const names: string[] = []
  for await (const library of client.listLibraries(signal)) {
    if (library.id === idOrName || library.name === idOrName) candidates.push(library)
    if (names.length < MAX_NAMES) names.push(library.name)
  }
  return { library: pickLibrary(candidates, idOrName), names }
}

function pickLibrary(libraries: readonly LibrarySummary[], idOrName: string): LibrarySummary | undefined {
  const byId = libraries.find(({ id }) => id === idOrName)
  if (byId) return byId
  const named = libraries.filter(({ name }) => name === idOrName)
  if (named.length > 1) throw new UsageError('unknown-library', ambiguous(idOrName, named))
  return named[0]
}

function ambiguous(name: string, libraries: readonly LibrarySummary[]): string {
  const ids = libraries.slice(0, MAX_LISTED).map(({ id }) => id)
  return `Cannot choose the library "${name}": ${libraries.length} have that name; use an identifier: ${ids.join(', ')}`
}
