import type { ComponentChild } from 'preact'
import type { HostShown } from '../../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../../contract/dashboard-addresses.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatNumber, formatTime } from '../../common/format.ts'
import { Command, Notice, Unloaded, useLoaded, ViewHeading } from '../../common/view.tsx'
import { Pager, TextFilter } from '../filters.tsx'
import { SIGNS } from '../labels.ts'
import { useSession } from '../session.ts'

export function HostsView({ query, takesFocus }: ViewProps) {
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

export function HostFacts({ host }: { readonly host: HostShown }) {
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
