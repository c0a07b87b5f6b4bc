import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { LibrarySummary } from '../../contract/records.ts'
import type { ApiClient } from '../common/api-client.ts'

/** Somebody who is signed in. */
export interface Session {
  readonly api: ApiClient
  /** Those that may be read. */
  readonly libraries: readonly LibrarySummary[]
}

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('Nobody is signed in')
  return session
}

const TOKEN = 'shelfd.token'

/** The token lives in the tab alone, and goes with it. */
export const tokenOfTab = {
  read: () => sessionStorage.getItem(TOKEN) ?? '',
  keep: (token: string) => sessionStorage.setItem(TOKEN, token),
  forget: () => sessionStorage.removeItem(TOKEN),
}
