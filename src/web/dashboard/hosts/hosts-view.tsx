import { ROWS_A_PAGE } from '../../../contract/dashboard-addresses.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted } from '../../common/format.ts'
import { useLoaded } from '../../common/loaded.tsx'
import { Notice } from '../../common/notice.tsx'
import { Command } from '../../common/typed-program.tsx'
import { Unloaded, ViewHeading } from '../../common/view-heading.tsx'
import { Pager, TextFilter } from '../filters.tsx'
import { useSession } from '../session.ts'
import { HostFacts } from './host-facts.tsx'

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
