import { useState } from 'preact/hooks'
import { KeyboardHelp } from '../common/dialog.tsx'
import { Notice } from '../common/notice.tsx'
import { useAddress, useIsFirst } from '../common/use-address.ts'
import { useKeys } from '../common/use-keys.ts'
import { Header } from './header.tsx'
import { HostView } from './hosts/host-view.tsx'
import { HostsView } from './hosts/hosts-view.tsx'
import { LogView } from './log-view.tsx'
import { MirrorsView } from './mirrors/mirrors-view.tsx'
import { ProblemsView } from './problems/problems-view.tsx'
import { ReportView } from './report/report-view.tsx'
import { addressOf, parseAddress, viewsOf } from './routes.ts'
import { SearchView } from './search-view.tsx'
import { useSession } from './session.ts'
import { SettingsView } from './settings-view.tsx'
import { TimelineView } from './timeline/timeline-view.tsx'

const KEYS = [
  ['Tab', 'to the next link, button or field'],
  ['?', 'shows these keys'],
] as const

export function Frame({ onSignOut }: { onSignOut(): void }) {
  const { live } = useSession()
  const { current } = useAddress()
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const { view, query } = parseAddress(current)
  const takesFocus = !useIsFirst(view)
  const views = viewsOf(live.overview)
  useKeys({
    '?': () => setIsHelpOpen(true),
    ...Object.fromEntries(views.map((name, index) => [String(index + 1), () => go(addressOf(name))])),
  })
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header view={view} onHelp={() => setIsHelpOpen(true)} onSignOut={onSignOut} />
      <main id="main" tabIndex={-1}>
        {live.trouble !== '' && <Notice tone="problem">{live.trouble}</Notice>}
        {live.overview?.troubles.map((trouble) => (
          <Notice key={trouble} tone="warning">
            {trouble}
          </Notice>
        ))}
        {view === 'mirrors' && <MirrorsView takesFocus={takesFocus} />}
        {view === 'report' && <ReportView query={query} takesFocus={takesFocus} />}
        {view === 'problems' && <ProblemsView query={query} takesFocus={takesFocus} />}
        {view === 'timeline' && <TimelineView query={query} takesFocus={takesFocus} />}
        {view === 'search' && <SearchView query={query} takesFocus={takesFocus} />}
        {view === 'settings' && <SettingsView takesFocus={takesFocus} />}
        {view === 'log' && <LogView takesFocus={takesFocus} />}
        {view === 'hosts' && !query.host && <HostsView query={query} takesFocus={takesFocus} />}
        {view === 'hosts' && query.host && <HostView key={query.host} query={query} takesFocus={takesFocus} />}
      </main>
      {isHelpOpen && (
        <KeyboardHelp
          keys={[[`1 … ${views.length}`, 'to a view, in their order'], ...KEYS]}
          onClose={() => setIsHelpOpen(false)}
        />
      )}
    </>
  )
}

function go(address: string): void {
  location.hash = address
}
