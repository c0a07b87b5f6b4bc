import type { ClassCounts, ReportRowShown } from '../../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../../contract/dashboard-addresses.ts'
import { SHOWN_STATES, type ShownState } from '../../../contract/report-classes.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { Failure, Notice, useLoaded, WhenLoaded } from '../../common/view.tsx'
import { Pager, TextFilter } from '../filters.tsx'
import { CLASSES } from '../labels.ts'
import { useSession } from '../session.ts'
import type { Explained } from './why-dialog.tsx'

interface ReportTableProps extends Pick<ViewProps, 'query'> {
  readonly mirror: string
  onExplain(explained: Explained): void
}

/** Shows the rows of a mirror's report, which the server filters and pages. */
export function ReportTable({ mirror, query, onExplain }: ReportTableProps) {
  const { client, live } = useSession()
  const { text = '', below = '' } = query
  const classes = classesIn(query.class ?? '')
  const page = Math.max(1, Number(query.page ?? 1) || 1)
  const input = { mirror, classes, text, below, offset: (page - 1) * ROWS_A_PAGE }
  const files = live.overview?.mirrors.find(({ name }) => name === mirror)?.files
  const found = useLoaded(JSON.stringify([input, files]), (signal) => client.call('rows', input, signal))
  const go = (changed: Readonly<Record<string, string>>) => {
    location.replace(addressOf('report', { ...query, mirror, page: '', ...changed }))
  }
  if (found.failure !== '') return <Failure message={found.failure} onRetry={found.retry} />
  return (
    <>
      <div class="report-filters">
        <TextFilter text={text} onChange={(value) => go({ text: value })} />
        {below !== '' && (
          <button type="button" onClick={() => go({ below: '' })}>
            Below {below} ✕
          </button>
        )}
        {found.value && (
          <ClassChoice
            counts={found.value.counts}
            chosen={classes}
            onChange={(chosen) => go({ class: chosen.join(',') })}
          />
        )}
      </div>
      <WhenLoaded what="the rows" found={found}>
        {({ total, rows }) => (
          <>
            <p class="count" role="status">
              {counted(total, 'row')}
            </p>
            {total === 0 && <Notice tone="plain">No row fits the filter.</Notice>}
            {total > 0 && <Rows mirror={mirror} rows={rows} onExplain={onExplain} />}
            <Pager page={page} pages={Math.ceil(total / ROWS_A_PAGE)} onGo={(to) => go({ page: String(to) })} />
          </>
        )}
      </WhenLoaded>
    </>
  )
}

function classesIn(text: string): readonly ShownState[] {
  const words = text.split(',')
  return SHOWN_STATES.filter((name) => words.includes(name))
}

interface ClassChoiceProps {
  readonly counts: ClassCounts
  /** An empty list means all classes. */
  readonly chosen: readonly ShownState[]
  onChange(chosen: readonly ShownState[]): void
}

/** Shows the classes of the report with their numbers of rows; the user can switch each on and off. */
function ClassChoice({ counts, chosen, onChange }: ClassChoiceProps) {
  const present = SHOWN_STATES.filter((name) => (counts[name] ?? 0) > 0 || chosen.includes(name))
  const toggle = (name: ShownState) =>
    onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name])
  return (
    <fieldset class="classes">
      <legend class="spoken">Only rows that are</legend>
      {present.map((name) => (
        <button key={name} type="button" aria-pressed={chosen.includes(name)} onClick={() => toggle(name)}>
          <span class={`dot class-${name}`} aria-hidden="true" />
          {CLASSES[name].label} {formatNumber(counts[name] ?? 0)}
        </button>
      ))}
    </fieldset>
  )
}

interface RowsProps {
  readonly mirror: string
  readonly rows: readonly ReportRowShown[]
  onExplain(explained: Explained): void
}

/** Shows rows of the report; the name of each opens an explanation. */
function Rows({ mirror, rows, onExplain }: RowsProps) {
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

/** Returns the label of a row's class and its reason, or only the reason if it begins like the label. */
export function describeState({ class: name, reason }: ReportRowShown): string {
  const { label } = CLASSES[name]
  if (reason === null || reason === 'new') return label
  const [firstWords = label] = label.split(',')
  return reason.startsWith(firstWords) ? reason : `${label}: ${reason}`
}
