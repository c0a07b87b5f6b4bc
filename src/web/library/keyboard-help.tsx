import { Dialog } from '../common/ui/dialog.tsx'

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ['/', 'to the search'],
  ['↓ ↑', 'to the next or previous entry of a list; ↓ in the search field to the first hit'],
  ['Home End', 'to the first or last entry'],
  ['Enter', 'opens the entry'],
  ['Esc', 'closes a document or a search, goes up from a directory, empties the search field'],
  ['?', 'shows these keys'],
]

export function KeyboardHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
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
