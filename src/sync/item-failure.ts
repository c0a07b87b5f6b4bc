import { ShelfdError } from '../foundation/errors.ts'
import { reactToFailure } from '../rules/react-to-failure.ts'
import type { Connection } from './engine.ts'

/** A right on one library that a request needs. */
export interface NeededRight {
  readonly libraryId: string
  readonly right: 'read' | 'resource.create' | 'update'
}

const ABILITIES: Readonly<Record<NeededRight['right'], string>> = {
  read: 'library.all.read',
  'resource.create': 'library.all.resource.create',
  update: 'library.all.update',
}

/**
 * Returns the error of a request if it concerns the requested item alone; undefined if it concerns the service. If the error does not
 * show which of the two, asks the service for the credential's rights: if it grants the needed one, the error concerns the item.
 */
export async function itemFailure(
  error: unknown,
  { client }: Connection,
  needed: NeededRight,
  signal: AbortSignal,
): Promise<ShelfdError | undefined> {
  if (!(error instanceof ShelfdError)) return undefined
  const { scope, mayBeItem } = reactToFailure(error)
  if (scope === 'item') return error
  return mayBeItem && (await isServiceWell({ client }, needed, signal)) ? error : undefined
}

export async function isServiceWell(
  { client }: Pick<Connection, 'client'>,
  needed: NeededRight,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const access = await client.checkAccess(signal)
    if (access.abilities.includes(ABILITIES[needed.right])) return true
    const library = access.libraries.find(({ id }) => id === needed.libraryId)
    // The access context may omit libraries; the listing has all.
    return (library ?? (await findListed(client, needed.libraryId, signal)))?.access.includes(needed.right) ?? false
  } catch {
    // The caller reports the error of its own request, which names the cause better.
    return false
  }
}

async function findListed(client: Connection['client'], libraryId: string, signal: AbortSignal) {
  for await (const library of client.listLibraries(signal)) if (library.id === libraryId) return library
  return undefined
}
