import type { LibrarySummary } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import type { Connection } from '../engine.ts'

/**
 * Finds the library with this identifier, or the only one with this name, first in the access context (4.1). Throws
 * UsageError `unknown-library` if several libraries have the name.
 */
export async function findLibrary(
  { client, access }: Connection,
  wanted: string,
  signal: AbortSignal,
): Promise<LibrarySummary | undefined> {
  const near = pickLibrary(access.libraries, wanted)
  if (near) return near
  const all: LibrarySummary[] = []
  for await (const library of client.listLibraries(signal)) all.push(library)
  return pickLibrary(all, wanted)
}

function pickLibrary(libraries: readonly LibrarySummary[], wanted: string): LibrarySummary | undefined {
  const byId = libraries.find(({ id }) => id === wanted)
  if (byId) return byId
  const named = libraries.filter(({ name }) => name === wanted)
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(
      'unknown-library',
      `Cannot choose the library "${wanted}": ${named.length} libraries have that name; give the identifier (${ids})`,
    )
  }
  return named[0]
}
