import type { ReportRowShown } from '../../../contract/dashboard.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { CLASSES } from '../labels.ts'
import type { Explained } from './why-dialog.tsx'

interface RowsProps {
  readonly mirror: string
  readonly rows: readonly ReportRowShown[]
  onExplain(explained: Explained): void
}

/** Rows of the report; the name of each opens what is known of it. */
export function Rows({ mirror, rows, onExplain }: RowsProps) {
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.path} ${row.class} ${row.resourceId}`}>
            <td class="name">
              <RowName mirror={mirror} row={row} onExplain={onExplain} />
            </td>
            <td class={`state ${CLASSES[row.class].tone}`}>{describeState(row)}</td>
            <td class="number quiet">{row.sizeBytes === null ? '' : formatSize(row.sizeBytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function RowName({ mirror, row, onExplain }: Omit<RowsProps, 'rows'> & { readonly row: ReportRowShown }) {
  const { path, resourceId } = row
  if (path === null) return <>{resourceId}</>
  return (
    <button type="button" class="link" onClick={() => onExplain({ mirror, path, resourceId })}>
      {path}
    </button>
  )
}

export function describeState({ class: name, reason }: ReportRowShown): string {
  const { label } = CLASSES[name]
  if (reason === null || reason === 'new') return label
  const [firstWords = label] = label.split(',')
  return reason.startsWith(firstWords) ? reason : `${label}: ${reason}`
}
