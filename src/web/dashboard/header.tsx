import { Logo } from '../common/icon.tsx'
import { SessionNav } from '../common/session-nav.tsx'
import { TITLES } from './labels.ts'
import { addressOf, type View, viewsOf } from './routes.ts'
import { useSession } from './session.ts'

interface HeaderProps {
  readonly view: View
  onHelp(): void
  onSignOut(): void
}

export function Header({ view, onHelp, onSignOut }: HeaderProps) {
  const { live } = useSession()
  return (
    <header class="top">
      <a class="brand" href={addressOf('mirrors')}>
        <Logo />
        <span>shelfd</span>
      </a>
      <nav class="views" aria-label="Views">
        {viewsOf(live.overview).map((name) => (
          <a key={name} href={addressOf(name)} aria-current={name === view ? 'page' : undefined}>
            {TITLES[name]}
          </a>
        ))}
      </nav>
      <SessionNav onHelp={onHelp} onSignOut={onSignOut} />
    </header>
  )
}
