import { createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'

export function createSession<Session>() {
  const context = createContext<Session | undefined>(undefined)
  const useSession = (): Session => {
    const session = useContext(context)
    if (!session) throw new Error('Nobody is signed in')
    return session
  }
  return { SessionContext: context, useSession }
}

/** Keeps a token until the tab is closed. `token` is empty before the sign-in; `reason` says why the last session ended. */
export function useToken(key: string) {
  const [state, setState] = useState({ token: sessionStorage.getItem(key) ?? '', reason: '' })
  return {
    ...state,
    signIn: (token: string) => {
      sessionStorage.setItem(key, token)
      setState({ token, reason: '' })
    },
    signOut: (reason = '') => {
      sessionStorage.removeItem(key)
      setState({ token: '', reason })
    },
  }
}
