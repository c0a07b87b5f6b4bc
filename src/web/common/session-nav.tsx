interface SessionNavProps {
  onHelp(): void
  onSignOut(): void
}

export function SessionNav({ onHelp, onSignOut }: SessionNavProps) {
  return (
    <nav aria-label="Session">
      <button
        type="button"
        class="plain help"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={onHelp}
      >
        ?
      </button>
      <button type="button" class="plain" onClick={onSignOut}>
        Sign out
      </button>
    </nav>
  )
}
