import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CheckedMirror, FieldProblem } from '../../../contract/mirror-edits.ts'
import { Dialog } from '../../common/dialog.tsx'
import { useLoaded, WhenLoaded } from '../../common/loaded.tsx'
import { Notice } from '../../common/notice.tsx'
import { ActionButton } from '../action-button.tsx'
import { useSession } from '../session.ts'
import { Effect } from './effect.tsx'

export function AddDialog({ onClose }: { onClose(): void }) {
  const { client } = useSession()
  const found = useLoaded('', (signal) => client.call('newMirror', {}, signal))
  return (
    <Dialog title="Add a directory" hasMain onClose={onClose}>
      <WhenLoaded what="the libraries" found={found}>
        {(value) => <AddForm {...value} />}
      </WhenLoaded>
    </Dialog>
  )
}

const FIELDS = [
  { field: 'path', label: 'Directory', placeholder: '~/Papers' },
  { field: 'name', label: 'Name of the mirror', placeholder: 'as the directory' },
  { field: 'library', label: 'Library, one that is there or a new one', placeholder: 'as the directory' },
] as const

interface AddFormProps {
  readonly file: string
  readonly revision: string
  readonly libraries: readonly string[]
}

function AddForm({ file, revision, libraries }: AddFormProps) {
  const { client } = useSession()
  const form = useRef<HTMLFormElement>(null)
  const [chosen, setChosen] = useState({ path: '', name: '', library: '' })
  const [checked, setChecked] = useState<CheckedMirror>()
  const [message, setMessage] = useState('')
  const focus = (field: FieldProblem['field']) =>
    form.current?.querySelector<HTMLInputElement>(`#new-${field}`)?.focus()
  useLayoutEffect(() => focus('path'), [])
  const change = (field: FieldProblem['field'], value: string) => {
    setChosen({ ...chosen, [field]: value })
    setChecked(undefined)
  }
  const check = async () => {
    const answer = await client.call('checkMirror', chosen)
    setChecked(answer)
    if (answer.problem) focus(answer.problem.field)
  }
  const mirror = checked?.mirror
  const add = async () => {
    const mayCreateLibrary = mirror?.isNewLibrary ?? false
    setMessage((await client.call('addMirror', { ...chosen, revision, mayCreateLibrary })).message)
  }
  if (message !== '') return <Notice tone="plain">{message}</Notice>
  return (
    <form ref={form} class="edit" onSubmit={(event) => event.preventDefault()}>
      {FIELDS.map(({ field, label, placeholder }) => {
        const problem = checked?.problem?.field === field ? checked.problem.message : ''
        return (
          <div key={field} class="edit">
            <label for={`new-${field}`}>{label}</label>
            <input
              id={`new-${field}`}
              value={chosen[field]}
              placeholder={placeholder}
              autocomplete="off"
              spellcheck={false}
              list={field === 'library' ? 'libraries' : undefined}
              aria-invalid={problem !== ''}
              aria-describedby={`problem-${field}`}
              onInput={({ currentTarget }) => change(field, currentTarget.value)}
            />
            <p id={`problem-${field}`} class="state problem" aria-live="polite">
              {problem}
            </p>
          </div>
        )
      })}
      <datalist id="libraries">
        {libraries.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {mirror && (
        <>
          <p class="path">
            <bdi>
              <strong>{mirror.name}</strong>
            </bdi>
            : <bdi dir="ltr">{mirror.path}</bdi> → <bdi>{mirror.library}</bdi>:<bdi dir="ltr">{mirror.remotePath}</bdi>
          </p>
          {mirror.isNewLibrary && <p class="state warning">The library {mirror.library} is new, and will be made.</p>}
          <Effect found={mirror.found} isNew />
        </>
      )}
      <p class="quiet path">Saved in {file}, whose comments stay.</p>
      <div class="actions">
        <ActionButton label="Check" kind="submit" run={check} />
        <ActionButton label="Add" kind="main" isDisabled={!mirror} run={add} />
      </div>
    </form>
  )
}
