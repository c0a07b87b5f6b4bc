import { useLayoutEffect, useRef } from 'preact/hooks'
import { SignedOut } from '../common/frame.tsx'
import { useAction } from '../common/loaded.tsx'
import { Notice } from '../common/notice.tsx'
import { Command } from '../common/typed-program.tsx'
import { ApiClient } from './api-client.ts'

interface SignInProps {
  /** The reason why the last session ended; empty at first. */
  readonly reason: string
  onSignedIn(token: string): void
}

export function SignIn({ reason, onSignedIn }: SignInProps) {
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    document.title = 'Sign in · Library'
    field.current?.focus()
  }, [])
  const { failure, isRunning, run } = useAction(async () => {
    const token = field.current?.value.trim() ?? ''
    field.current?.select()
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('A token is one word of letters, digits and signs.')
    await new ApiClient(token).checkAccess(AbortSignal.timeout(20_000))
    onSignedIn(token)
  })
  const said = failure || reason
  const signIn = (event: Event) => {
    event.preventDefault()
    void run()
  }
  return (
    <SignedOut>
      <p>Search and browse the documents of this library.</p>
      <form onSubmit={signIn}>
        <label for="token">Access token</label>
        <input
          ref={field}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-help"
        />
        {said !== '' && <Notice tone="problem">{said}</Notice>}
        <button type="submit" class="main" disabled={isRunning}>
          {isRunning ? 'Signing in …' : 'Sign in'}
        </button>
        <p id="token-help" class="quiet">
          Whoever runs the server finds one in the file <code>token</code> of its data directory, or makes one with{' '}
          <Command>serve tokens create</Command>. This tab keeps it until you sign out or close it.
        </p>
      </form>
    </SignedOut>
  )
}
