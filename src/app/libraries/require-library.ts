import type { LibrarySummary } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { didYouMean } from '../did-you-mean.ts'

const MAX_LISTED = 10

/**
 * The library with this identifier or, failing that, this exact name; throws UsageError('unknown-library') when there is
 * none, UsageError('bad-usage') when several have the name.
 */
export async function findLibrary(
  client: Pick<ServiceClient, 'listLibraries'>,
  idOrName: string,
  signal?: AbortSignal,
): Promise<LibrarySummary> {
  const named: LibrarySummary[] = []
  const names: string[] = []
  for await (const library of client.listLibraries(signal)) {
    if (library.id === idOrName) return library
    if (library.name === idOrName) named.push(library)
    if (names.length < 1_000) names.push(library.name)
  }
  const [only, ...others] = named
  if (only && others.length === 0) return only
  if (only) throw new UsageError('bad-usage', ambiguous(idOrName, named))
  throw new UsageError('unknown-library', absent(idOrName, names))
}

function ambiguous(name: string, libraries: readonly LibrarySummary[]): string {
  const ids = libraries.slice(0, MAX_LISTED).map(({ id }) => id)
  return `Cannot choose the library "${name}": ${libraries.length} have that name; use an identifier: ${ids.join(', ')}`
}

function absent(idOrName: string, names: readonly string[]): string {
  const visible = names.length === 0 ? '; this credential sees no library' : didYouMean(idOrName, names)
  return `Cannot find the library "${idOrName}"${visible}`
}
