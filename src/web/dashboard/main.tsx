/** The dashboard, see docs/dashboard.md. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { SIGN_IN_FRAGMENT } from '../../contract/dashboard-addresses.ts'
import { addressOf } from '../common/address.ts'
import { describeError } from '../common/client.ts'
import { Frame, SignedOut, start, useAddress } from '../common/frame.tsx'
import { useToken } from '../common/session.ts'
import { Command, Loading, Notice, useKeys } from '../common/view.tsx'
import { HostsView } from './hosts-view.tsx'
import { LogView } from './log-view.tsx'
import { MirrorsView } from './mirrors/mirrors-view.tsx'
import { ProblemsView } from './problems-view.tsx'
import { ReportView } from './report/report-view.tsx'
import { SearchView } from './search-view.tsx'
import { DashboardClient, SessionContext, useLive } from './session.ts'
import { SettingsView } from './settings-view.tsx'
import { TimelineView } from './timeline/timeline-view.tsx'

/** Signs in with the key of a one-time address. Shows the dashboard while the tab is signed in, and otherwise how to sign in. */
function Page() {
  const { token, reason, signIn, signOut } = useToken('shelfd.dashboard')
  const [isSigningIn, setIsSigningIn] = useState(location.hash.startsWith(SIGN_IN_FRAGMENT))
  useEffect(() => {
    const useKey = async () => {
      if (!location.hash.startsWith(SIGN_IN_FRAGMENT)) return
      const key = location.hash.slice(SIGN_IN_FRAGMENT.length)
      // The key must not stay in the address bar or the history.
      history.replaceState(null, '', '#/')
      setIsSigningIn(true)
      try {
        signIn((await new DashboardClient().call('signIn', { key })).token)
      } catch (error) {
        signOut(describeError(error))
      }
      setIsSigningIn(false)
    }
    void useKey()
    addEventListener('hashchange', useKey)
    return () => removeEventListener('hashchange', useKey)
  }, [])
  if (isSigningIn) return <Loading what="the dashboard" />
  if (token !== '') return <SignedIn key={token} token={token} onSignOut={signOut} />
  return (
    <SignedOut>
      <p>This command opens the dashboard; its address works once:</p>
      <p>
        <Command>dashboard</Command>
      </p>
      {reason !== '' && <Notice tone="problem">{reason}</Notice>}
    </SignedOut>
  )
}

/** The views, by the first part of the address after the `#`. */
const VIEWS = {
  mirrors: ['Mirrors', MirrorsView],
  report: ['Report', ReportView],
  problems: ['Problems', ProblemsView],
  timeline: ['Timeline', TimelineView],
  search: ['Search', SearchView],
  settings: ['Settings', SettingsView],
  log: ['Log', LogView],
  hosts: ['Hosts', HostsView],
} as const

function viewOf(name: string): keyof typeof VIEWS {
  return Object.hasOwn(VIEWS, name) ? (name as keyof typeof VIEWS) : 'mirrors'
}

function SignedIn({ token, onSignOut }: { token: string; onSignOut(why?: string): void }) {
  const client = useMemo(() => new DashboardClient(token, onSignOut), [token])
  const live = useLive(client)
  const { overview, trouble } = live
  const { id, ...shown } = useAddress(({ view, query }) => addressOf(viewOf(view), { host: query.host ?? '' }))
  const current = viewOf(shown.view)
  const [, View] = VIEWS[current]
  // Only a host that shares a ledger with others has the view of hosts.
  const views = Object.entries(VIEWS).filter(([name]) => name !== 'hosts' || overview?.isInFleet)
  const handlers = views.map(([name], index) => [String(index + 1), () => location.assign(addressOf(name))])
  useKeys(Object.fromEntries(handlers))
  const tabs = views.map(([name, [title]]) => (
    <a key={name} href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
      {title}
    </a>
  ))
  return (
    <SessionContext.Provider value={{ client, live }}>
      <Frame
        home={addressOf('mirrors')}
        header={
          <nav class="views" aria-label="Views">
            {tabs}
          </nav>
        }
        keys={[
          [`1 … ${views.length}`, 'to a view, in their order'],
          ['Tab', 'to the next link, button or field'],
        ]}
        onSignOut={onSignOut}
      >
        {trouble !== '' && <Notice tone="problem">{trouble}</Notice>}
        {overview?.troubles.map((each) => (
          <Notice key={each} tone="warning">
            {each}
          </Notice>
        ))}
        <View key={id} {...shown} />
      </Frame>
    </SessionContext.Provider>
  )
}

start(<Page />)
