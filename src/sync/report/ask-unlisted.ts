import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { isNotFound, TemporaryError } from '../../foundation/errors.ts'
import type { Presence } from '../../rules/report-class.ts'
import type { Connection } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'

/** What the service said of resources that its complete listing did not show, by resource id. */
export type AskedResources = ReadonlyMap<string, Extract<Presence, 'listed' | 'absent'>>

/** The most requests of one report; resources beyond them are unknown. */
export const MOST_ASKED = 10_000

/** After this number of failures the service is not asked for the rest: the client has already retried each. */
const MOST_FAILURES = 8

/**
 * Asks for each resource itself (4.13): an entry that is deleted or moved while pages are read can shift others past a cursor, so that
 * a complete listing lacks them. Leaves out resources of which the service said nothing; throws what concerns the credential.
 */
export async function askUnlisted(
  connection: Connection,
  libraryId: string,
  resourceIds: readonly string[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
): Promise<AskedResources> {
  const asked = new Map<string, 'listed' | 'absent'>()
  let failures = 0
  await forEachConcurrently(resourceIds.slice(0, MOST_ASKED), concurrency, async (id) => {
    if (failures >= MOST_FAILURES) return
    try {
      await connection.client.pollResource(libraryId, id, signal)
      asked.set(id, 'listed')
    } catch (error) {
      if (isNotFound(error)) asked.set(id, 'absent')
      // The error says nothing of other requests, or the service does not answer now, as it had for the listing.
      else if (
        error instanceof TemporaryError ||
        (await itemFailure(error, connection, { libraryId, right: 'read' }, signal))
      )
        failures += 1
      else throw error
    }
  })
  return asked
}
