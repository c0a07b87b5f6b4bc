import { useMemo, useState } from 'preact/hooks'
import { Failure, Loading } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
import { ApiClient } from './api-client.ts'
import { Frame } from './frame.tsx'
import { SessionContext, tokenOfTab } from './session.ts'
import { SignIn } from './sign-in.tsx'

export function Page() {
  const [token, setToken] = useState(tokenOfTab.read)
  const [reason, setReason] = useState('')
  const signIn = (given: string) => {
    tokenOfTab.keep(given)
    setToken(given)
  }
  const signOut = (why = '') => {
    tokenOfTab.forget()
    setReason(why)
    setToken('')
  }
  if (token === '') return <SignIn reason={reason} onSignedIn={signIn} />
  return <SignedIn token={token} onSignOut={signOut} />
}

function SignedIn({ token, onSignOut }: { readonly token: string; onSignOut(why?: string): void }) {
  const api = useMemo(() => new ApiClient(token, onSignOut), [token])
  const access = useLoaded(token, (signal) => api.checkAccess(signal))
  const session = useMemo(
    () => ({ api, libraries: (access.value?.libraries ?? []).filter((library) => library.access.includes('read')) }),
    [api, access.value],
  )
  if (!access.value) {
    return (
      <main>
        <h1>Library</h1>
        {access.error === undefined ? (
          <Loading what="the library" />
        ) : (
          <Failure error={access.error} onRetry={access.retry} />
        )}
      </main>
    )
  }
  return (
    <SessionContext.Provider value={session}>
      <Frame onSignOut={() => onSignOut()} />
    </SessionContext.Provider>
  )
}
