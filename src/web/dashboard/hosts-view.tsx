import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { HostPage, HostShown } from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { counted, formatNumber, formatTime } from '../common/format.ts'
import { ActionButton, Command, Notice, Unloaded, useLoaded, ViewHeading } from '../common/view.tsx'
import { Pager, TextFilter } from './filters.tsx'
import { SIGNS } from './labels.ts'
import { FileBar } from './mirrors/file-bar.tsx'
import { useSession } from './session.ts'

/** Shows the hosts that share the ledger, or the one host that the address names. */
export function HostsView(props: ViewProps) {
  return props.query.host ? <HostView {...props} /> : <HostList {...props} />
}

function HostList({ query, takesFocus }: ViewProps) {
  const { client } = useSession()
  const { text = '' } = query
  const page = Math.max(1, Number(query.page ?? 1) || 1)
  const input = { text, offset: (page - 1) * ROWS_A_PAGE }
  const found = useLoaded(JSON.stringify(input), (signal) => client.call('hosts', input, signal))
  const go = (changed: Readonly<Record<string, string>>) => {
    location.replace(addressOf('hosts', { ...query, page: '', ...changed }))
  }
  if (!found.value) return <Unloaded title="Hosts" takesFocus={takesFocus} what="the hosts" found={found} />
  const { total, secondSends, hosts } = found.value
  const pages = Math.ceil(total / ROWS_A_PAGE)
  return (
    <section>
      <div class="head">
        <ViewHeading title="Hosts" takesFocus={takesFocus} />
        <button type="button" onClick={found.retry}>
          Refresh
        </button>
      </div>
      {secondSends > 0 && (
        <Notice tone="warning">
          {counted(secondSends, 'file')} reached the service twice: <Command>fleet status</Command>
        </Notice>
      )}
      {(total > 1 || text !== '') && (
        <div class="report-filters">
          <TextFilter text={text} onChange={(value) => go({ text: value })} />
        </div>
      )}
      <p class="count" role="status">
        {counted(total, 'host')}
      </p>
      <ul class="list" aria-label="Hosts">
        {hosts.map((host) => (
          <li key={host.id} class="problem-item">
            <a class="path" href={addressOf('hosts', { host: String(host.id) })}>
              {host.name}
            </a>
            <HostFacts host={host} />
          </li>
        ))}
      </ul>
      <Pager page={Math.min(page, pages)} pages={pages} onGo={(to) => go({ page: String(to) })} />
    </section>
  )
}

function HostFacts({ host }: { readonly host: HostShown }) {
  const { version, seenAt, session, mirrors, waiting, problems, sentInDay } = host
  const counts = [
    ['✓', mirrors.done],
    ['→', mirrors.busy],
    ['!', mirrors.warned],
    ['✗', mirrors.stopped],
  ] as const
  const present = counts.filter(([, count]) => count > 0)
  const facts: readonly ComponentChild[] = [
    ...(present.length === 0 ? ['it has reported no mirror yet'] : []),
    ...present.map(([sign, count]) => (
      <span key={sign} class={`state ${SIGNS[sign].tone}`}>
        <span aria-hidden="true">{sign}</span> {counted(count, 'mirror')}
        <span class="spoken">: {SIGNS[sign].name}</span>
      </span>
    )),
    ...(waiting > 0 ? [`${counted(waiting, 'file')} to send`] : []),
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
    `${formatNumber(sentInDay)} sent in 24 hours`,
  ]
  return (
    <>
      {session === 'silent' && (
        <p class="state warning">
          <span aria-hidden="true">!</span> silent: shelfd did not end there, and gives no sign of life. What it
          reported last may be out of date.
        </p>
      )}
      <p class="state">{facts.flatMap((fact, index) => (index === 0 ? [fact] : [' · ', fact]))}</p>
      <p class="quiet">
        shelfd {version} · {seenAt === null ? 'never seen' : `last beat ${formatTime(seenAt)}`}
        {session === 'closed' && ', not running'}
      </p>
    </>
  )
}

type Order = (kind: 'pause' | 'resume' | 'sync', mirror: string | null) => Promise<void>

function HostView({ query, takesFocus }: ViewProps) {
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
  /** Null for all mirrors of the host. */
  readonly mirror: string | null
  /** Undefined for all mirrors, of which some may be paused. */
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
