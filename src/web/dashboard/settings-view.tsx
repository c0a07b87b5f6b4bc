import { useState } from 'preact/hooks'
import type { SettingsInForce } from '../../contract/dashboard.ts'
import type { ViewProps } from '../common/address.ts'
import { ActionButton, Dialog, Notice, Unloaded, useLoaded, ViewHeading, WhenLoaded } from '../common/view.tsx'
import { useSession } from './session.ts'

/** Shows every setting in force and where it comes from. Settings that a user chose come first. */
export function SettingsView({ takesFocus }: ViewProps) {
  const { client } = useSession()
  const found = useLoaded('', (signal) => client.call('settings', {}, signal))
  if (!found.value) return <Unloaded title="Settings" takesFocus={takesFocus} what="the settings" found={found} />
  const { configFile, settings, mirrors } = found.value
  const chosen = settings.filter(({ origin }) => origin !== 'default')
  const others = settings.filter(({ origin }) => origin === 'default')
  return (
    <section>
      <ViewHeading title="Settings" takesFocus={takesFocus} />
      <p class="quiet path">
        {configFile === null
          ? 'There is no configuration file: every setting has its default.'
          : `Read from ${configFile}.`}
      </p>
      {mirrors.length > 0 && <MirrorsTable mirrors={mirrors} onChange={found.retry} />}
      {chosen.length > 0 && <SettingsTable caption="Chosen" settings={chosen} />}
      <SettingsTable caption="Defaults" settings={others} />
    </section>
  )
}

interface SettingsTableProps {
  readonly caption: string
  readonly settings: readonly { readonly key: string; readonly value: string; readonly origin: string }[]
}

function SettingsTable({ caption, settings }: SettingsTableProps) {
  return (
    <>
      <h2 class="section">{caption}</h2>
      <dl class="settings">
        {settings.map(({ key, value, origin }) => (
          <div key={key}>
            <dt>
              <code>{key}</code>
            </dt>
            <dd>
              {value} {origin !== 'default' && <span class="quiet">{origin}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

interface MirrorsTableProps extends Pick<SettingsInForce, 'mirrors'> {
  onChange(): void
}

/** Shows all mirrors. Those in the configuration can be removed from it. */
function MirrorsTable({ mirrors, onChange }: MirrorsTableProps) {
  const [removed, setRemoved] = useState<string>()
  const close = () => {
    setRemoved(undefined)
    onChange()
  }
  return (
    <>
      <h2 class="section">Mirrors</h2>
      <dl class="settings">
        {mirrors.map(({ name, path, origin, isConfigured }) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi dir="ltr">{path}</bdi> <span class="quiet">made by {origin}</span>{' '}
              {isConfigured && (
                <button type="button" aria-label={`Remove: ${name}`} onClick={() => setRemoved(name)}>
                  Remove …
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {removed !== undefined && <RemoveDialog mirror={removed} onClose={close} />}
    </>
  )
}

function RemoveDialog({ mirror, onClose }: { readonly mirror: string; onClose(): void }) {
  const { client } = useSession()
  const [message, setMessage] = useState('')
  const found = useLoaded(mirror, (signal) => client.call('rules', { mirror }, signal))
  const remove = async (revision: string) =>
    setMessage((await client.call('removeMirror', { mirror, revision })).message)
  return (
    <Dialog title={`Remove ${mirror}`} hasMain onClose={onClose}>
      <WhenLoaded what="the configuration" found={found}>
        {({ file, revision }) =>
          message === '' ? (
            <div class="edit">
              <p>
                The mirror is taken out of {file}, whose comments stay, and its files are no longer sent. Its directory
                and what was sent stay as they are.
              </p>
              <div class="actions">
                <ActionButton label="Remove" kind="main" run={() => remove(revision)} />
              </div>
            </div>
          ) : (
            <Notice tone="plain">{message}</Notice>
          )
        }
      </WhenLoaded>
    </Dialog>
  )
}
