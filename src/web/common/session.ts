import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export function createSession<Session>() {
  const context = createContext<Session | undefined>(undefined)
  const useSession = (): Session => {
    const session = useContext(context)
    if (!session) throw new Error('Nobody is signed in')
    return session
  }
  return { SessionContext: context, useSession }
}

/** Keeps a token in the tab alone; it goes with the tab. */
export function keepInTab(key: string) {
  return {
    read: () => sessionStorage.getItem(key) ?? '',
    keep: (token: string) => sessionStorage.setItem(key, token),
    forget: () => sessionStorage.removeItem(key),
  }
}
