import type { LibrarySummary } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { searchLibraries } from '../../sync/pin/find-library.ts'
import { didYouMean } from '../did-you-mean.ts'

/**
 * The library with this identifier or, failing that, this exact name; throws UsageError('unknown-library') when there is
 * none, or several have the name.
 */
export async function requireLibrary(
  client: Pick<ServiceClient, 'listLibraries'>,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySummary> {
  const { library, names } = await searchLibraries(client, idOrName, signal)
  if (library) return library
  const hint = names.length === 0 ? '; this credential sees no library' : didYouMean(idOrName, names)
  throw new UsageError('unknown-library', `Cannot find the library "${idOrName}"${hint}`)
}
