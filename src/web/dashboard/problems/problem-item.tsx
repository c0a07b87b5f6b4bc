import { useState } from 'preact/hooks'
import type { ShownProblem } from '../../../contract/dashboard.ts'
import { counted, formatTime } from '../../common/format.ts'
import { ActionButton } from '../../common/view.tsx'
import { describePlace } from '../labels.ts'
import type { Explained } from '../report/why-dialog.tsx'

interface ProblemItemProps {
  readonly problem: ShownProblem
  act(name: 'retry' | 'setAside', problem: ShownProblem): Promise<void>
  onExplain(explained: Explained): void
}

/** A problem: its file, whose name opens what is known of it, its cause, and the ways to go on. */
export function ProblemItem({ problem, act, onExplain }: ProblemItemProps) {
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
          {command !== null && <Copied what="On the command line:" text={command} />}
          {ignoreLine !== null && <Copied what={`As a line of ${root}/.shelfdignore:`} text={ignoreLine} />}
        </details>
      )}
    </li>
  )
}

function Copied({ what, text }: { readonly what: string; readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setIsCopied(true)
  }
  return (
    <>
      <p class="quiet">{what}</p>
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
