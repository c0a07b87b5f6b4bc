import { useState } from 'preact/hooks'
import type { ProblemCount, ShownProblem } from '../../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../../contract/dashboard-addresses.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatNumber } from '../../common/format.ts'
import { ActionButton, Notice, Unloaded, useLoaded, ViewHeading } from '../../common/view.tsx'
import { Pager, TextFilter } from '../filters.tsx'
import { describePlace } from '../labels.ts'
import { type Explained, WhyDialog } from '../report/why-dialog.tsx'
import { useSession } from '../session.ts'
import { ProblemItem } from './problem-item.tsx'

/** Problems with their causes, by cause and directory, and what can be done about them. */
export function ProblemsView({ query, takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const [changes, setChanges] = useState(0)
  const [explained, setExplained] = useState<Explained | undefined>()
  const { text = '', cause = '', place = '' } = query
  const page = Math.max(1, Number(query.page ?? 1) || 1)
  const input = { text, cause, place, offset: (page - 1) * ROWS_A_PAGE }
  const counts = live.overview?.mirrors.map(({ problems, files }) => [problems, files.setAside])
  const found = useLoaded(JSON.stringify([input, counts, changes]), (signal) => client.call('problems', input, signal))
  const act = async (name: 'retry' | 'setAside', { content, mirror, path }: ShownProblem) => {
    const named = content
      ? { contentIds: [content.contentId], paths: [] }
      : { contentIds: [], paths: [{ mirror, path }] }
    await client.call(name, named)
    setChanges((times) => times + 1)
  }
  const retryAll = async () => {
    await client.call('retryAll', { text, cause, place })
    setChanges((times) => times + 1)
  }
  const go = (changed: Readonly<Record<string, string>>) => {
    location.replace(addressOf('problems', { ...query, page: '', ...changed }))
  }
  if (!found.value) return <Unloaded title="Problems" takesFocus={takesFocus} what="the problems" found={found} />
  const { total, setAside, causes, places, morePlaces, problems, failed } = found.value
  const pages = Math.ceil(total / ROWS_A_PAGE)
  const isFiltered = text + cause + place !== ''
  return (
    <section>
      <div class="head">
        <ViewHeading title="Problems" takesFocus={takesFocus} />
        {failed > 1 && <ActionButton label="Retry all" run={retryAll} />}
      </div>
      {total === 0 && !isFiltered && <Notice tone="plain">Nothing failed: there is nothing to do.</Notice>}
      {(total > 1 || isFiltered) && (
        <div class="report-filters">
          <TextFilter text={text} onChange={(value) => go({ text: value })} />
          <GroupChoice label="By cause" groups={causes} chosen={cause} onChoose={(key) => go({ cause: key })} />
          <GroupChoice label="By directory" groups={places} chosen={place} onChoose={(key) => go({ place: key })} />
          {morePlaces > 0 && <p class="quiet">and {counted(morePlaces, 'more directory', 'more directories')}</p>}
        </div>
      )}
      {total === 0 && isFiltered && <Notice tone="plain">No problem fits the filter.</Notice>}
      {total > 0 && (
        <p class="count" role="status">
          {counted(total, 'problem')}
          {setAside > 0 && `, ${setAside} of them set aside`}
        </p>
      )}
      <ul class="list" aria-label="Problems">
        {problems.map((problem) => (
          <ProblemItem
            key={`${problem.mirror}/${problem.path}/${problem.content?.contentId}`}
            problem={problem}
            act={act}
            onExplain={setExplained}
          />
        ))}
      </ul>
      <Pager page={Math.min(page, pages)} pages={pages} onGo={(to) => go({ page: String(to) })} />
      {explained && <WhyDialog explained={explained} onClose={() => setExplained(undefined)} />}
    </section>
  )
}

interface GroupChoiceProps {
  readonly label: string
  readonly groups: readonly ProblemCount[]
  /** Empty for all. */
  readonly chosen: string
  onChoose(key: string): void
}

/** The groups of problems with their numbers, the largest first; one can be chosen. Shows nothing where there is no choice. */
function GroupChoice({ label, groups, chosen, onChoose }: GroupChoiceProps) {
  if (groups.length < 2 && chosen === '') return null
  const shown =
    groups.some(({ key }) => key === chosen) || chosen === '' ? groups : [{ key: chosen, count: 0 }, ...groups]
  return (
    <fieldset class="classes">
      <legend class="quiet">{label}</legend>
      {shown.map(({ key, count }) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === chosen}
          onClick={() => onChoose(key === chosen ? '' : key)}
        >
          {describePlace(key)} {formatNumber(count)}
        </button>
      ))}
    </fieldset>
  )
}
