import { useLoaded } from '../common/use-loaded.ts'
import { Unloaded, ViewHeading } from '../common/view-heading.tsx'
import { useSession } from './session.ts'

/** Every setting in force, with where it comes from; those that somebody chose come first. */
export function SettingsView({ takesFocus }: { readonly takesFocus: boolean }) {
  const { client } = useSession()
  const found = useLoaded('', (signal) => client.call('settings', {}, signal))
  if (!found.value) return <Unloaded title="Settings" takesFocus={takesFocus} what="the settings" found={found} />
  const { configFile, settings } = found.value
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
