import { useEffect, useMemo, useState } from 'preact/hooks'
import { SIGN_IN_FRAGMENT } from '../../contract/dashboard-addresses.ts'
import { describeError } from '../common/client.ts'
import { Logo } from '../common/icon.tsx'
import { Loading, Notice } from '../common/notice.tsx'
import { Command } from '../common/typed-program.tsx'
import { Frame } from './frame.tsx'
import { DashboardClient, SessionContext, tokenOfTab, useLive } from './session.ts'

/** Signs in by the one-time address, and shows the dashboard to a browser that is signed in. */
export function Page() {
  const [token, setToken] = useState(tokenOfTab.read)
  const [reason, setReason] = useState('')
  const [isSigningIn, setIsSigningIn] = useState(location.hash.startsWith(SIGN_IN_FRAGMENT))
  const signOut = (why: string) => {
    tokenOfTab.forget()
    setReason(why)
    setToken('')
  }
  useEffect(() => {
    const signIn = async () => {
      if (!location.hash.startsWith(SIGN_IN_FRAGMENT)) return
      const key = location.hash.slice(SIGN_IN_FRAGMENT.length)
      // Neither the address bar nor the history keeps the key.
      history.replaceState(null, '', '#/')
      setIsSigningIn(true)
      try {
        const response = await new DashboardClient().call('signIn', { key })
        tokenOfTab.keep(response.token)
        setToken(response.token)
      } catch (error) {
        signOut(describeError(error))
      }
      setIsSigningIn(false)
    }
    void signIn()
    addEventListener('hashchange', signIn)
    return () => removeEventListener('hashchange', signIn)
  }, [])
  if (isSigningIn) return <Loading what="the dashboard" />
  if (token === '') return <SignedOut reason={reason} />
  return <SignedIn key={token} token={token} onSignOut={signOut} />
}

function SignedOut({ reason }: { readonly reason: string }) {
  return (
    <main class="sign-in">
      <h1>
        <Logo /> shelfd
      </h1>
      <p>This command opens the dashboard; its address works once:</p>
      <p>
        <Command>dashboard</Command>
      </p>
      {reason !== '' && <Notice tone="problem">{reason}</Notice>}
    </main>
  )
}

interface SignedInProps {
  readonly token: string
  onSignOut(why: string): void
}

function SignedIn({ token, onSignOut }: SignedInProps) {
  const client = useMemo(() => new DashboardClient(token, onSignOut), [token])
  const live = useLive(client)
  return (
    <SessionContext.Provider value={{ client, live }}>
      <Frame onSignOut={() => onSignOut('')} />
    </SessionContext.Provider>
  )
}
