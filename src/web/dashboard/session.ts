import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { DashboardClient } from './dashboard-client.ts'
import type { Live } from './use-live.ts'

/** A browser that is signed in. */
export interface Session {
  readonly client: DashboardClient
  readonly live: Live
}

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('Nobody is signed in')
  return session
}

const TOKEN = 'shelfd.dashboard'

/** The token lives in the tab alone, and goes with it. */
export const tokenOfTab = {
  read: () => sessionStorage.getItem(TOKEN) ?? '',
  keep: (token: string) => sessionStorage.setItem(TOKEN, token),
  forget: () => sessionStorage.removeItem(TOKEN),
}
