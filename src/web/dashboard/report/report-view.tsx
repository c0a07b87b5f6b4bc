import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ClassCounts } from '../../../contract/dashboard.ts'
import { SHOWN_STATES } from '../../../contract/report-classes.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { Choice, Command, Loading, Notice, useLoaded, ViewHeading, WhenLoaded } from '../../common/view.tsx'
import { CLASSES } from '../labels.ts'
import { useSession } from '../session.ts'
import { describeState, ReportTable } from './report-table.tsx'
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
        As of the last scan and the service's last answers. <Command>report</Command> asks disk and library anew.
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

interface TreeLevelProps {
  readonly mirror: string
  /** Relative to the mirror; empty for its root. */
  readonly directory: string
  onExplain(explained: Explained): void
}

/** Shows the directories and files in a directory. The entries of a subdirectory are loaded when it is opened. */
function TreeLevel({ mirror, directory, onExplain }: TreeLevelProps) {
  const { client, live } = useSession()
  const files = live.overview?.mirrors.find(({ name }) => name === mirror)?.files
  const found = useLoaded(JSON.stringify([mirror, directory, files]), (signal) =>
    client.call('tree', { mirror, directory }, signal),
  )
  if (!found.value) return <WhenLoaded what="the directory" found={found} />
  const { directories, moreDirectories, files: rows, moreFiles } = found.value
  // The table shows, page by page, the entries that the tree leaves out.
  const below = addressOf('report', { mirror, below: directory })
  return (
    <ul class="tree" aria-label={directory === '' ? mirror : directory}>
      {directories.map(({ name, counts }) => (
        <Branch key={name} mirror={mirror} path={pathIn(directory, name)} counts={counts} onExplain={onExplain} />
      ))}
      {moreDirectories > 0 && (
        <li>
          <a href={below}>and {counted(moreDirectories, 'more directory', 'more directories')}</a>
        </li>
      )}
      {rows.map((row) => (
        <li key={`${row.path} ${row.class} ${row.resourceId}`} class="leaf">
          <button
            type="button"
            class="link"
            onClick={() => onExplain({ mirror, path: row.path ?? '', resourceId: row.resourceId })}
          >
            {row.path?.slice(directory === '' ? 0 : directory.length + 1)}
          </button>{' '}
          <span class={`state ${CLASSES[row.class].tone}`}>{describeState(row)}</span>
        </li>
      ))}
      {moreFiles > 0 && (
        <li>
          <a href={below}>and {counted(moreFiles, 'more file')}</a>
        </li>
      )}
    </ul>
  )
}

interface BranchProps extends Omit<TreeLevelProps, 'directory'> {
  readonly path: string
  readonly counts: ClassCounts
}

function Branch({ mirror, path, counts, onExplain }: BranchProps) {
  const [isOpen, setIsOpen] = useState(false)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const present = SHOWN_STATES.flatMap((each) => (counts[each] ? [[each, counts[each]] as const] : []))
  return (
    <li>
      <button type="button" class="branch" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span class="twist" aria-hidden="true" />
        <span class="branch-name">{name}</span>
        <span class="quiet">
          {present.map(([each, n]) => (
            <span key={each} class="share">
              <span class={`dot class-${each}`} aria-hidden="true" />
              {formatNumber(n)} <span class="spoken">{CLASSES[each].label}</span>
            </span>
          ))}
        </span>
      </button>
      {isOpen && <TreeLevel mirror={mirror} directory={path} onExplain={onExplain} />}
    </li>
  )
}

function pathIn(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
