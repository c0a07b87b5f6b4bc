import type { LogLine } from '../../contract/dashboard.ts'
import type { ViewProps } from '../common/address.ts'
import type { Tone } from '../common/labels.ts'
import { Command, Notice, Unloaded, useLoaded, ViewHeading } from '../common/view.tsx'
import { useSession } from './session.ts'

const TONES: Readonly<Record<LogLine['level'], Tone>> = { info: 'plain', warn: 'warning', error: 'problem' }

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function LogView({ takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const found = useLoaded(String(live.logNumber), (signal) => client.call('log', {}, signal))
  if (!found.value) return <Unloaded title="Log" takesFocus={takesFocus} what="the log" found={found} />
  const { lines } = found.value
  return (
    <section>
      <ViewHeading title="Log" takesFocus={takesFocus} />
      {lines === null && (
        <Notice tone="plain">
          No daemon serves this page, so there is no log to show. <Command>service logs</Command> shows that of an
          installed daemon.
        </Notice>
      )}
      {lines?.length === 0 && <Notice tone="plain">Nothing was logged yet.</Notice>}
      <ul class="log" aria-label="Log, newest first">
        {lines?.toReversed().map(({ number, at, level, text }) => (
          <li key={number} class={TONES[level]}>
            <span class="quiet">{timeFormat.format(new Date(at))}</span> {level !== 'info' && <strong>{level} </strong>}
            {text}
          </li>
        ))}
      </ul>
    </section>
  )
}
