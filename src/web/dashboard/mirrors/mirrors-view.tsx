import { useState } from 'preact/hooks'
import type { ViewProps } from '../../common/address.ts'
import { formatTime } from '../../common/format.ts'
import { Loading } from '../../common/loaded.tsx'
import { Notice } from '../../common/notice.tsx'
import { Command } from '../../common/typed-program.tsx'
import { ViewHeading } from '../../common/view-heading.tsx'
import { ActionButton } from '../action-button.tsx'
import { useSession } from '../session.ts'
import { AddDialog } from './add-dialog.tsx'
import { MirrorCard } from './mirror-card.tsx'

export function MirrorsView({ takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const { overview } = live
  const [isAdding, setIsAdding] = useState(false)
  if (!overview) return <Loading what="the mirrors" />
  const { daemon, mirrors, service, version } = overview
  return (
    <section>
      <div class="head">
        <ViewHeading title="Mirrors" takesFocus={takesFocus} />
        <div class="actions">
          {mirrors.length > 1 && (
            <>
              <ActionButton label="Sync all now" run={() => client.call('sync', { names: [] })} />
              {mirrors.every(({ isPaused }) => isPaused) ? (
                <ActionButton label="Resume all" run={() => client.call('resume', { names: [] })} />
              ) : (
                <ActionButton label="Pause all" run={() => client.call('pause', { names: [] })} />
              )}
            </>
          )}
          <button type="button" onClick={() => setIsAdding(true)}>
            Add a directory …
          </button>
        </div>
      </div>
      <p class="quiet">
        {daemon
          ? `A daemon keeps them up to date since ${formatTime(daemon.startedAt)}: ${daemon.summary}`
          : 'No daemon runs: mirrors are synced when you ask for it. "shelfd service install" keeps them up to date.'}
      </p>
      {mirrors.length === 0 && (
        <Notice tone="plain">
          Nothing is mirrored yet. Add a directory here; <Command>init</Command> also sets up a service, and{' '}
          <Command>sync DIRECTORY</Command> tries one out.
        </Notice>
      )}
      {mirrors.map((mirror) => (
        <MirrorCard key={mirror.name} mirror={mirror} />
      ))}
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
      <p class="quiet foot">
        {service} · shelfd {version}
      </p>
    </section>
  )
}
