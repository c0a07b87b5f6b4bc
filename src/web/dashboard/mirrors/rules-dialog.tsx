import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RulesEffect } from '../../../contract/mirror-edits.ts'
import { Dialog } from '../../common/dialog.tsx'
import { useLoaded, WhenLoaded } from '../../common/loaded.tsx'
import { Notice } from '../../common/notice.tsx'
import { ActionButton } from '../action-button.tsx'
import { useSession } from '../session.ts'
import { Effect } from './effect.tsx'

/** What a mirror leaves out, by its configuration: edited, previewed, then saved. */
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
        <code>!key.md</code> takes in again what an earlier line leaves out, secrets too. The built-in list goes before
        these lines; a <code>.shelfdignore</code> in the directory goes after them.
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
