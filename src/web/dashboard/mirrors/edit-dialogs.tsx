import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CheckedMirror, FieldProblem, RulesEffect } from '../../../contract/mirror-edits.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { ActionButton, Dialog, Notice, useLoaded, WhenLoaded } from '../../common/view.tsx'
import { useSession } from '../session.ts'

/** Edits the ignore rules of a configured mirror, previews their effect, and saves them. */
export function RulesDialog({ mirror, onClose }: { readonly mirror: string; onClose(): void }) {
  const { client } = useSession()
  const found = useLoaded(mirror, (signal) => client.call('rules', { mirror }, signal))
  return (
    <Dialog title={`Leave out of ${mirror}`} hasMain onClose={onClose}>
      <WhenLoaded what="its rules" found={found}>
        {(value) => <RulesForm mirror={mirror} {...value} />}
      </WhenLoaded>
    </Dialog>
  )
}

interface RulesFormProps {
  readonly mirror: string
  readonly file: string
  readonly revision: string
  readonly ignore: readonly string[]
}

function RulesForm({ mirror, file, revision, ignore }: RulesFormProps) {
  const { client } = useSession()
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const [text, setText] = useState(ignore.join('\n'))
  const [effect, setEffect] = useState<RulesEffect>()
  const [message, setMessage] = useState('')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const change = (typed: string) => {
    setText(typed)
    setEffect(undefined)
  }
  const preview = async () => setEffect(await client.call('rulesEffect', { mirror, ignore: lines }))
  const save = async () => setMessage((await client.call('saveRules', { mirror, revision, ignore: lines })).message)
  if (message !== '') return <Notice tone="plain">{message}</Notice>
  return (
    <div class="edit">
      <label for="rules">Patterns, one a line, as in .gitignore</label>
      <textarea
        ref={field}
        id="rules"
        rows={6}
        spellcheck={false}
        aria-describedby="rules-help"
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <p id="rules-help" class="quiet">
        <code>*.bak</code> leaves out files of that name anywhere, <code>/drafts/</code> a directory,{' '}
        <code>!key.md</code> mirrors again what an earlier line leaves out, even secrets. The built-in list applies
        before these lines; a <code>.shelfdignore</code> in the directory applies after them.
      </p>
      {effect && <Effect found={effect} isNew={false} />}
      <p class="quiet path">Saved in {file}, whose comments stay.</p>
      <div class="actions">
        <ActionButton label="Show the effect" run={preview} />
        <ActionButton label="Save" kind="main" isDisabled={!effect} run={save} />
      </div>
    </div>
  )
}

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
  { field: 'library', label: 'Library, an existing or a new one', placeholder: 'as the directory' },
] as const

function AddForm({ file, revision, libraries }: { file: string; revision: string; libraries: readonly string[] }) {
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
          {mirror.isNewLibrary && <p class="state warning">The library {mirror.library} is new and will be created.</p>}
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

/** Shows which files the edited rules would mirror. */
function Effect({ found, isNew }: { readonly found: RulesEffect; readonly isNew: boolean }) {
  const { files, bytes, leaving, coming, isWhole } = found
  const all = `${counted(files, 'file')}, ${formatSize(bytes)}`
  const isSame = leaving.count + coming.count === 0
  return (
    <div class="effect" role="status">
      {!isWhole && <p class="state warning">The directory is large: only a part of it was examined.</p>}
      {leaving.count > 0 && <p class="state warning">{counted(leaving.count, 'file')} would be left out:</p>}
      <Names {...leaving} />
      {leaving.count > 0 && (
        <p class="quiet">
          Nothing is deleted: what was sent stays in the library, and searches there still find it. Changes of these
          files would no longer be sent.
        </p>
      )}
      {coming.count > 0 && <p>{counted(coming.count, 'file')}, left out now, would be sent:</p>}
      <Names {...coming} />
      <p class="quiet">
        {isNew
          ? `The first run finds ${all}.`
          : isSame
            ? `The same files as now: ${all}.`
            : `All that is mirrored: ${all}.`}
      </p>
    </div>
  )
}

function Names({ count, first }: { readonly count: number; readonly first: readonly string[] }) {
  if (count === 0) return null
  return (
    <ul class="names">
      {first.map((name) => (
        <li key={name}>{name}</li>
      ))}
      {count > first.length && <li class="quiet">and {formatNumber(count - first.length)} more</li>}
    </ul>
  )
}
