import { useState } from 'preact/hooks'
import type { ClassCounts } from '../../../contract/dashboard.ts'
import { SHOWN_STATES } from '../../../contract/report-classes.ts'
import { addressOf } from '../../common/address.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { useLoaded, WhenLoaded } from '../../common/view.tsx'
import { CLASSES } from '../labels.ts'
import { useSession } from '../session.ts'
import { describeState } from './report-table.tsx'
import type { Explained } from './why-dialog.tsx'

interface TreeLevelProps {
  readonly mirror: string
  /** Relative to the mirror; empty for its root. */
  readonly directory: string
  onExplain(explained: Explained): void
}

/** The directories and files in a directory; a directory loads its own when it is opened. */
export function TreeLevel({ mirror, directory, onExplain }: TreeLevelProps) {
  const { client, live } = useSession()
  const files = live.overview?.mirrors.find(({ name }) => name === mirror)?.files
  const found = useLoaded(JSON.stringify([mirror, directory, files]), (signal) =>
    client.call('tree', { mirror, directory }, signal),
  )
  if (!found.value) return <WhenLoaded what="the directory" found={found} />
  const { directories, moreDirectories, files: rows, moreFiles } = found.value
  // The list shows page after page what the tree leaves out.
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
