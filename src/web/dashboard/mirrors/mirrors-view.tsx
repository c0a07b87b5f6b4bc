import { useState } from 'preact/hooks'
import type { MirrorOverview } from '../../../contract/dashboard.ts'
import { RUN_ENDINGS } from '../../../contract/run-endings.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatTime } from '../../common/format.ts'
import { ActionButton, Command, Loading, Notice, ViewHeading } from '../../common/view.tsx'
import { SIGNS } from '../labels.ts'
import { useSession } from '../session.ts'
import { AddDialog, RulesDialog } from './edit-dialogs.tsx'
import { FileBar } from './file-bar.tsx'

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
          ? `A daemon has kept them up to date since ${formatTime(daemon.startedAt)}: ${daemon.summary}`
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

function MirrorCard({ mirror }: { readonly mirror: MirrorOverview }) {
  const { name, path, library, state, files, problems, syncWaitsFor, syncFailure } = mirror
  const { tone, name: sign } = SIGNS[state.sign]
  const [isEditing, setIsEditing] = useState(false)
  return (
    <article class="card" aria-labelledby={`mirror-${name}`}>
      <div class="head">
        <h2 id={`mirror-${name}`}>{name}</h2>
        <Actions mirror={mirror} onEdit={() => setIsEditing(true)} />
      </div>
      <p class={`state ${tone}`}>
        <span aria-hidden="true">{state.sign}</span> <span class="spoken">{sign}:</span> {state.text}
      </p>
      {syncWaitsFor !== null && <p class="quiet">Waits for the sync of {syncWaitsFor}</p>}
      {syncFailure && (
        <p class="state problem" role="alert">
          The sync ended early: {syncFailure}
        </p>
      )}
      <p class="quiet path">
        <bdi dir="ltr">{path}</bdi>
        {library && (
          <>
            {' → '}
            <bdi>{library.name}</bdi>:<bdi dir="ltr">{library.remotePath}</bdi>
          </>
        )}
      </p>
      <FileBar files={files} />
      <Facts mirror={mirror} />
      {problems > 0 && (
        <p>
          <a href={addressOf('problems')}>{counted(problems, 'problem')}</a>
        </p>
      )}
      {isEditing && <RulesDialog mirror={name} onClose={() => setIsEditing(false)} />}
    </article>
  )
}

function Actions({ mirror, onEdit }: { readonly mirror: MirrorOverview; onEdit(): void }) {
  const { client } = useSession()
  const { name, isPaused, isSyncing, syncWaitsFor } = mirror
  const names = [name]
  const syncLabel = !isSyncing ? 'Sync now' : syncWaitsFor === null ? 'Syncing …' : 'Waiting …'
  return (
    <div class="actions">
      <ActionButton label={syncLabel} of={name} isDisabled={isSyncing} run={() => client.call('sync', { names })} />
      {isPaused ? (
        <ActionButton label="Resume" of={name} run={() => client.call('resume', { names })} />
      ) : (
        <ActionButton label="Pause" of={name} run={() => client.call('pause', { names })} />
      )}
      <button type="button" aria-label={`Leave out …: ${name}`} onClick={onEdit}>
        Leave out …
      </button>
    </div>
  )
}

/** Shows the facts of a mirror that apply now. */
function Facts({ mirror }: { readonly mirror: MirrorOverview }) {
  const { state, isPaused, queue, inIngestion, lastRun, details, times } = mirror
  const facts: readonly (readonly [string, string])[] = [
    ['to send', queue.contents === 0 ? '' : `${counted(queue.contents, 'file')}, ${formatSize(queue.bytes)}`],
    ['being processed', inIngestion === 0 ? '' : counted(inIngestion, 'file')],
    ['paused', isPaused ? 'a daemon uploads nothing until you resume' : ''],
    // Left out if a daemon shows its own times, which are later, and if the state already describes the run that was stopped.
    [
      'last run',
      lastRun && times.length === 0 && state.sign !== '✗'
        ? `${formatTime(lastRun.at)}, ${RUN_ENDINGS[lastRun.verdict] ?? lastRun.verdict}`
        : '',
    ],
    ...details,
    ...times.map(([label, time]) => [label, formatTime(time)] as const),
  ]
  return (
    <dl class="facts">
      {facts
        .filter(([, text]) => text !== '')
        .map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
    </dl>
  )
}
