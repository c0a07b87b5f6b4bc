import { type ComponentChildren, render } from 'preact'
import { useState } from 'preact/hooks'
import { escapeElements } from './escape-elements.ts'
import { Logo } from './icon.tsx'
import { Dialog, nameOfPage, useKeys } from './view.tsx'

export function start(page: ComponentChildren): void {
  escapeElements()
  const place = document.getElementById('page')
  if (place) render(page, place)
}

export function SignedOut({ children }: { readonly children: ComponentChildren }) {
  return (
    <main class="sign-in">
      <h1>
        <Logo /> {nameOfPage()}
      </h1>
      {children}
    </main>
  )
}

interface FrameProps {
  /** The address of the view that the name of the page leads to. */
  readonly home: string
  /** What is in the header beside the session. */
  readonly header: ComponentChildren
  /** Keys, apart by blanks, and what they do. */
  readonly keys: readonly (readonly [keys: string, does: string])[]
  readonly children: ComponentChildren
  onSignOut(): void
}

/** What is around each view. */
export function Frame({ home, header, keys, children, onSignOut }: FrameProps) {
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const openHelp = () => setIsHelpOpen(true)
  useKeys({ '?': openHelp })
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={home}>
          <Logo />
          <span>{nameOfPage()}</span>
        </a>
        {header}
        <nav aria-label="Session">
          <button
            type="button"
            class="plain help"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts"
            onClick={openHelp}
          >
            ?
          </button>
          <button type="button" class="plain" onClick={() => onSignOut()}>
            Sign out
          </button>
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {isHelpOpen && (
        <Dialog title="Keyboard" onClose={() => setIsHelpOpen(false)}>
          <dl class="keys">
            {[...keys, ['?', 'shows these keys'] as const].map(([key, does]) => (
              <div key={key}>
                <dt>
                  {key.split(' ').map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  )
}
