import { useState } from 'preact/hooks'
import type { ProblemCount, ShownProblem } from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { counted, formatNumber, formatTime } from '../common/format.ts'
import { ActionButton, Notice, Unloaded, useLoaded, ViewHeading } from '../common/view.tsx'
import { Pager, TextFilter } from './filters.tsx'
import { describePlace } from './labels.ts'
import { type Explained, WhyDialog } from './report/why-dialog.tsx'
import { useSession } from './session.ts'

/** Shows the problems, filtered by text, cause and directory, and what can be done about each. */
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

/** Lets the user choose one group of problems, the largest first. Shows nothing if none is chosen and there are fewer than two. */
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

interface ProblemItemProps {
  readonly problem: ShownProblem
  act(name: 'retry' | 'setAside', problem: ShownProblem): Promise<void>
  onExplain(explained: Explained): void
}

/** Shows a problem: its file, whose name opens an explanation, its cause, and what can be done about it. */
function ProblemItem({ problem, act, onExplain }: ProblemItemProps) {
  const { mirror, path, code, cause, content, isSetAside, canSetAside, ignoreLine, root, command } = problem
  const name = describePlace(`${mirror}: ${path || '.'}`)
  const resourceId = content?.resourceId ?? null
  return (
    <li class="problem-item">
      <p class="path">
        <button type="button" class="link" onClick={() => onExplain({ mirror, path, resourceId })}>
          {name}
        </button>
      </p>
      {content?.copies.map((copy) => (
        <p key={copy} class="path">
          {copy}
        </p>
      ))}
      {content && content.moreCopies > 0 && (
        <p class="quiet">and {counted(content.moreCopies, 'more copy', 'more copies')}</p>
      )}
      <p class={`state ${isSetAside ? 'plain' : 'problem'}`}>
        {cause} <span class="quiet">[{code}]</span>
      </p>
      <p class="quiet">
        {content && describeTries(content)}
        {content && ' · '}
        {isSetAside ? 'set aside' : content ? describeRetry(content) : 'tried again with each scan'}
      </p>
      <div class="actions">
        {(content || isSetAside) && (
          <ActionButton
            label={content ? 'Try again' : 'No longer set aside'}
            of={name}
            run={() => act('retry', problem)}
          />
        )}
        {canSetAside && <ActionButton label="Set aside" of={name} run={() => act('setAside', problem)} />}
      </div>
      {(ignoreLine !== null || command !== null) && (
        <details class="ways">
          <summary>{command === null ? 'Leave it out' : 'Let shelfd read it, or leave it out'}</summary>
          {command !== null && <CopyableText label="On the command line:" text={command} />}
          {ignoreLine !== null && <CopyableText label={`As a line of ${root}/.shelfdignore:`} text={ignoreLine} />}
        </details>
      )}
    </li>
  )
}

function CopyableText({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setIsCopied(true)
  }
  return (
    <>
      <p class="quiet">{label}</p>
      <p class="copied">
        <code>{text}</code> <ActionButton label={isCopied ? 'Copied' : 'Copy'} of={text} run={copy} />
      </p>
    </>
  )
}

function describeTries({ stage, tries, since }: NonNullable<ShownProblem['content']>): string {
  const parts = [
    stage === 'upload' ? 'not stored' : 'stored, not searchable',
    `failed ${counted(tries, 'time')}`,
    since === null ? '' : `since ${formatTime(since)}`,
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function describeRetry({ retryAt, stage }: Pick<NonNullable<ShownProblem['content']>, 'retryAt' | 'stage'>): string {
  if (retryAt === null) return stage === 'ingestion' ? 'tried again when it changes' : 'tried again with the next run'
  return Date.parse(retryAt) > Date.now() ? `tried again after ${formatTime(retryAt)}` : 'tried again with the next run'
}
