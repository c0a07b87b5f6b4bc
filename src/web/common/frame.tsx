import { type ComponentChildren, Fragment, options, render } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Address, parseAddress, type ViewProps } from './address.ts'
import { Logo } from './icon.tsx'
import { escapeShown } from './shown-text.ts'
import { asTyped, Dialog, nameOfPage, useKeys } from './view.tsx'

export function start(page: ComponentChildren): void {
  escapeElements()
  const place = document.getElementById('page')
  if (place) render(page, place)
}

/** Attributes that browsers show or read out. `value` and addresses are not escaped, because forms and links need them unchanged. */
const SHOWN = ['title', 'aria-label', 'alt', 'placeholder']

/**
 * Makes every element of the page escape the texts that it shows, wherever they come from: names on disk, the service, users.
 * Elements with `data-content` show the text of a document, which is escaped already.
 */
function escapeElements(): void {
  options.vnode = ({ type, props }) => {
    if (typeof type === 'string' || type === Fragment) escapeProps(props as Record<string, unknown>)
  }
}

function escapeProps(props: Record<string, unknown>): void {
  for (const name of SHOWN) {
    if (name in props) props[name] = escapeChild(props[name])
  }
  if ('children' in props && !('data-content' in props)) props.children = escapeChild(props.children)
}

function escapeChild(child: unknown): unknown {
  if (typeof child === 'string') return escapeShown(asTyped(child))
  return Array.isArray(child) ? child.map(escapeChild) : child
}

/** Returns the page's present address, also after links and steps in the browser's history. `id` tells one view from another. */
export function useAddress(idOf: (address: Address) => string): ViewProps & { readonly id: string } {
  const [{ current, cameFrom }, setHash] = useState({ current: location.hash, cameFrom: '' })
  useLayoutEffect(() => {
    const follow = () => setHash((before) => ({ current: location.hash, cameFrom: before.current }))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const address = parseAddress(current)
  const id = idOf(address)
  const { current: shown } = useRef(new Set<string>())
  shown.add(id)
  return { ...address, id, cameFrom, takesFocus: shown.size > 1 }
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
  /** The address to which the name of the page links. */
  readonly home: string
  /** What the header shows besides the name of the page and the buttons of the session. */
  readonly header: ComponentChildren
  /** Keys, separated by blanks, and what they do. */
  readonly keys: readonly (readonly [keys: string, effect: string])[]
  readonly children: ComponentChildren
  onSignOut(): void
}

/** The header, navigation and help around each view. */
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
            {[...keys, ['?', 'shows these keys'] as const].map(([key, effect]) => (
              <div key={key}>
                <dt>
                  {key.split(' ').map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{effect}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  )
}
