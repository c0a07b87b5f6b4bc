import { Dialog } from './dialog.tsx'

interface KeyboardHelpProps {
  /** Keys, apart by blanks, and what they do. */
  readonly keys: readonly (readonly [keys: string, does: string])[]
  onClose(): void
}

export function KeyboardHelp({ keys, onClose }: KeyboardHelpProps) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, does]) => (
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
  )
}
