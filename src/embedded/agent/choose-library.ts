import type { LibrarySummary } from '../../contract/records.ts'
import type { AgentAccess } from './agent-access.ts'

/** The library with this identifier or, failing that, this exact name. Throws an Error that names the libraries there are. */
export async function chooseLibrary(
  access: AgentAccess,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySummary> {
  const libraries = await Array.fromAsync(access.listLibraries(signal))
  const found = libraries.find(({ id }) => id === idOrName) ?? libraries.find(({ name }) => name === idOrName)
  if (found) return found
  const names = libraries.slice(0, 20).map(({ name }) => `"${name}"`)
  throw new Error(`There is no library "${idOrName}" that may be read, only: ${names.join(', ') || 'none'}`)
}
