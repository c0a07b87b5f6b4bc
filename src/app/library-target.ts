import { normalizeLibraryPath } from '../contract/library-path.ts'
import type { LibrarySummary } from '../contract/records.ts'
import { UsageError } from '../foundation/errors.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import { searchLibraries } from '../sync/pin/pin-mirror.ts'
import { didYouMean } from './did-you-mean.ts'

export interface LibraryTarget {
  /** Identifier or exact name. */
  readonly library: string
  /** Canonical path; undefined when only the library was named. */
  readonly path: string | undefined
}

export function parseLibraryTarget(text: string): LibraryTarget {
  const colon = text.indexOf(':/')
  if (colon === -1) return { library: withoutColon(text), path: undefined }
  const path = normalizeLibraryPath(text.slice(colon + 1))
  if (colon > 0 && path !== undefined) return { library: text.slice(0, colon), path }
  throw new UsageError('bad-usage', `Cannot use "${text}": it must be LIBRARY or LIBRARY:/path, without "." and ".."`)
}

function withoutColon(text: string): string {
  return text.length > 1 && text.endsWith(':') ? text.slice(0, -1) : text
}

/** Returns the library with this identifier or, if there is none, with this name. Throws UsageError('unknown-library'). */
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
