import { useState } from 'preact/hooks'
import type { HostPage } from '../../../contract/dashboard.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted } from '../../common/format.ts'
import { ActionButton, Notice, Unloaded, useLoaded, ViewHeading } from '../../common/view.tsx'
import { SIGNS } from '../labels.ts'
import { FileBar } from '../mirrors/file-bar.tsx'
import { useSession } from '../session.ts'
import { HostFacts } from './hosts-view.tsx'

type Order = (kind: 'pause' | 'resume' | 'sync', mirror: string | null) => Promise<void>

export function HostView({ query, takesFocus }: ViewProps) {
  const { client } = useSession()
  const [ordered, setOrdered] = useState('')
  const hostId = Number(query.host ?? 0)
  const found = useLoaded(String(hostId), (signal) => client.call('host', { hostId }, signal))
  if (!found.value) return <Unloaded title="Host" takesFocus={takesFocus} what="the host" found={found} />
  const { host, mirrors, problems } = found.value
  const order: Order = async (kind, mirror) => {
    await client.call('order', { hostId, kind, mirror })
    const when = host.session === 'open' ? 'within a third of the lease' : 'once shelfd runs there again'
    setOrdered(`Ordered: ${kind} ${mirror ?? 'all mirrors'}; ${host.name} takes it ${when}.`)
  }
  return (
    <section>
      <div class="head">
        <ViewHeading title={host.name} takesFocus={takesFocus} />
        <div class="actions">
          <a href={addressOf('hosts')}>All hosts</a>
          <button type="button" onClick={found.retry}>
            Refresh
          </button>
          {mirrors.length !== 1 && <Orders mirror={null} order={order} />}
        </div>
      </div>
      <HostFacts host={host} />
      <p role="status">{ordered}</p>
      {mirrors.map((mirror) => (
        <Mirror key={mirror.name} mirror={mirror} order={order} />
      ))}
      <Problems problems={problems} total={host.problems} />
    </section>
  )
}

interface OrdersProps {
  /** Null: all of the host. */
  readonly mirror: string | null
  /** Undefined where some may be and others not. */
  readonly isPaused?: boolean
  readonly order: Order
}

function Orders({ mirror, isPaused, order }: OrdersProps) {
  const of = mirror ?? 'all mirrors'
  return (
    <>
      <ActionButton label="Sync now" of={of} run={() => order('sync', mirror)} />
      {isPaused !== true && <ActionButton label="Pause" of={of} run={() => order('pause', mirror)} />}
      {isPaused !== false && <ActionButton label="Resume" of={of} run={() => order('resume', mirror)} />}
    </>
  )
}

interface MirrorProps {
  readonly mirror: HostPage['mirrors'][number]
  readonly order: Order
}

function Mirror({ mirror: { name, path, state, files, queue, isPaused }, order }: MirrorProps) {
  const { tone, name: sign } = SIGNS[state.sign]
  return (
    <article class="card" aria-labelledby={`mirror-${name}`}>
      <div class="head">
        <h2 id={`mirror-${name}`}>{name}</h2>
        <div class="actions">
          <Orders mirror={name} isPaused={isPaused} order={order} />
        </div>
      </div>
      <p class={`state ${tone}`}>
        <span aria-hidden="true">{state.sign}</span> <span class="spoken">{sign}:</span> {state.text}
      </p>
      {path !== null && <p class="quiet path">{path}</p>}
      <FileBar files={files} />
      {queue.contents > 0 && <p>{counted(queue.contents, 'file')} to send</p>}
    </article>
  )
}

function Problems({ problems, total }: { readonly problems: HostPage['problems']; readonly total: number }) {
  if (total === 0) return null
  return (
    <>
      <h2 class="section">{counted(total, 'problem')}</h2>
      {problems.length === 0 && <Notice tone="plain">This host reports numbers only.</Notice>}
      <ul class="list" aria-label="Problems">
        {problems.map(({ mirror, path, code, message }) => (
          <li key={`${mirror}/${path}`} class="problem-item">
            <p class="path">
              {mirror}: {path}
            </p>
            <p>
              {message} <span class="quiet">{code}</span>
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}
