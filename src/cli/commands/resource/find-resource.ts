import { requireLibrary } from '../../../app/libraries/require-library.ts'
import type { LibrarySummary, ResourceRecord } from '../../../contract/records.ts'
import { RejectedError } from '../../../foundation/errors.ts'
import type { ServiceClient } from '../../../remote/service-client.ts'

export interface FoundResource {
  readonly library: LibrarySummary
  readonly resource: ResourceRecord
}

/** Finds a resource by its identifier, in the named library or else in all readable ones. */
export async function findResource(
  client: ServiceClient,
  id: string,
  libraryName: string | undefined,
  signal: AbortSignal,
): Promise<FoundResource> {
  if (libraryName !== undefined) {
    const library = await requireLibrary(client, libraryName, signal)
    return { library, resource: await client.showResource(library.id, id, signal) }
  }
  for await (const library of client.listLibraries(signal)) {
    const resource = await client.showResource(library.id, id, signal).catch(undefinedWhenAbsent)
    if (resource) return { library, resource }
  }
  const todo = '"shelfd search" and "shelfd report --json" show identifiers'
  throw new RejectedError('not-found', `Cannot find the resource "${id}": no readable library has it; ${todo}`, 404)
}

function undefinedWhenAbsent(error: unknown): undefined {
  if (error instanceof RejectedError && error.code === 'not-found') return undefined
  throw error
}
