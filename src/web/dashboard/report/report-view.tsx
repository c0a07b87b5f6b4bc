import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { Choice, Command, Loading, Notice, ViewHeading } from '../../common/view.tsx'
import { useSession } from '../session.ts'
import { ReportTable } from './report-table.tsx'
import { TreeLevel } from './tree-level.tsx'
import { type Explained, WhyDialog } from './why-dialog.tsx'

export function ReportView({ query, takesFocus }: ViewProps) {
  const { live } = useSession()
  const [explained, setExplained] = useState<Explained | undefined>()
  const mirrors = live.overview?.mirrors
  if (!mirrors) return <Loading what="the report" />
  const chosen = mirrors.find(({ name }) => name === query.mirror) ?? mirrors.find(({ files }) => files.known > 0)
  const mirror = (chosen ?? mirrors[0])?.name
  const isTree = query.as === 'tree'
  return (
    <section>
      <div class="head">
        <ViewHeading title="Report" takesFocus={takesFocus} />
        <div class="actions">
          {mirror !== undefined && mirrors.length > 1 && (
            <Choice
              label="Mirror"
              value={mirror}
              options={mirrors.map(({ name }) => [name, name])}
              onChange={(value) => {
                location.hash = addressOf('report', { mirror: value, as: query.as ?? '' })
              }}
            />
          )}
          <nav class="tabs" aria-label="Form of the report">
            <Tab isCurrent={!isTree} address={addressOf('report', { ...query, as: '', page: '' })}>
              Table
            </Tab>
            <Tab isCurrent={isTree} address={addressOf('report', { ...query, as: 'tree' })}>
              Tree
            </Tab>
          </nav>
        </div>
      </div>
      <p class="quiet">
        By what the last scan and the service's last answers say. <Command>report</Command> asks disk and library anew.
      </p>
      {mirror === undefined && <Notice tone="plain">Nothing is mirrored yet.</Notice>}
      {mirror !== undefined && !isTree && (
        <ReportTable key={mirror} mirror={mirror} query={query} onExplain={setExplained} />
      )}
      {mirror !== undefined && isTree && (
        <TreeLevel key={mirror} mirror={mirror} directory="" onExplain={setExplained} />
      )}
      {explained && <WhyDialog explained={explained} onClose={() => setExplained(undefined)} />}
    </section>
  )
}

interface TabProps {
  readonly isCurrent: boolean
  readonly address: string
  readonly children: ComponentChildren
}

export function Tab({ isCurrent, address, children }: TabProps) {
  return (
    <a href={address} aria-current={isCurrent ? 'true' : undefined}>
      {children}
    </a>
  )
}
