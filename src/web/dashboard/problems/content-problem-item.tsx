import type { ContentProblem } from '../../../contract/dashboard/shapes.ts'
import { counted, formatTime } from '../../common/format.ts'
import { ActionButton } from '../action-button.tsx'

interface ContentProblemItemProps {
  readonly content: ContentProblem
  act(name: 'retry' | 'setAside', contentIds: readonly number[]): Promise<void>
}

/** A content that failed, with its files, the cause, and two ways to go on. */
export function ContentProblemItem({ content, act }: ContentProblemItemProps) {
  const { contentId, code, message, files, isSetAside } = content
  const name = files[0]?.path ?? 'this file'
  return (
    <li class="problem-item">
      {files.map(({ mirror, path }) => (
        <p key={`${mirror}/${path}`} class="path">
          {mirror}: {path}
        </p>
      ))}
      <p class={`state ${isSetAside ? 'plain' : 'problem'}`}>
        {message} <span class="quiet">[{code}]</span>
      </p>
      <p class="quiet">{describeTries(content)}</p>
      <div class="actions">
        <ActionButton words="Try again" of={name} run={() => act('retry', [contentId])} />
        {!isSetAside && <ActionButton words="Set aside" of={name} run={() => act('setAside', [contentId])} />}
      </div>
    </li>
  )
}

function describeTries({ stage, tries, since, retryAt, isSetAside }: ContentProblem): string {
  const parts = [
    stage === 'upload' ? 'not stored' : 'stored, not searchable',
    `failed ${counted(tries, 'time')}`,
    since === null ? '' : `since ${formatTime(since)}`,
    isSetAside ? 'set aside' : describeRetry(retryAt),
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function describeRetry(retryAt: string | null): string {
  if (retryAt === null) return ''
  return Date.parse(retryAt) > Date.now() ? `tried again after ${formatTime(retryAt)}` : 'tried again with the next run'
}
