import { useState } from 'preact/hooks'
import type { ContentProblem } from '../../contract/dashboard.ts'
import { counted, formatTime } from '../common/format.ts'
import { Failure, Loading, Notice } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { ActionButton } from './action-button.tsx'
import { useSession } from './session.ts'

/** Failures with their causes, and what can be done about them. */
export function ProblemsView({ takesFocus }: { readonly takesFocus: boolean }) {
  const { client, live } = useSession()
  const [changes, setChanges] = useState(0)
  const counts = live.overview?.mirrors.map(({ problems, files }) => [problems, files.setAside])
  const found = useLoaded(`${JSON.stringify(counts)} ${changes}`, (signal) => client.call('problems', {}, signal))
  const act = async (name: 'retry' | 'setAside', contentIds: readonly number[]) => {
    await client.call(name, { contentIds })
    setChanges((times) => times + 1)
  }
  if (found.error !== undefined) return <Failure error={found.error} onRetry={found.retry} />
  if (!found.value) return <Loading what="the problems" />
  const { contents, moreContents, paths, morePaths } = found.value
  const open = contents.filter(({ isSetAside }) => !isSetAside)
  return (
    <section>
      <div class="head">
        <ViewHeading title="Problems" takesFocus={takesFocus} />
        {open.length > 1 && (
          <ActionButton
            label="Retry all"
            run={() =>
              act(
                'retry',
                open.map(({ contentId }) => contentId),
              )
            }
          />
        )}
      </div>
      {contents.length + paths.length === 0 && <Notice tone="plain">Nothing failed: there is nothing to do.</Notice>}
      {contents.length > 0 && (
        <ul class="list" aria-label="Files that failed">
          {contents.map((content) => (
            <ContentProblemItem key={content.contentId} content={content} act={act} />
          ))}
        </ul>
      )}
      {moreContents > 0 && <p class="quiet">and {counted(moreContents, 'more file')}: shelfd failed list</p>}
      {paths.length > 0 && (
        <>
          <h2 class="section">Not read</h2>
          <ul class="list" aria-label="Paths that could not be read">
            {paths.map(({ mirror, path, code, message }) => (
              <li key={`${mirror}/${path}`} class="problem-item">
                <p class="path">
                  {mirror}: {path || '.'}
                </p>
                <p class="state problem">
                  {message} <span class="quiet">[{code}]</span>
                </p>
              </li>
            ))}
          </ul>
          <p class="quiet">They are tried again with each scan.</p>
        </>
      )}
      {morePaths > 0 && <p class="quiet">and {counted(morePaths, 'more path')}: shelfd status</p>}
    </section>
  )
}

interface ContentProblemItemProps {
  readonly content: ContentProblem
  act(name: 'retry' | 'setAside', contentIds: readonly number[]): Promise<void>
}

/** A content that failed, with its files, the cause, and two ways to go on. */
function ContentProblemItem({ content, act }: ContentProblemItemProps) {
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
        <ActionButton label="Try again" of={name} run={() => act('retry', [contentId])} />
        {!isSetAside && <ActionButton label="Set aside" of={name} run={() => act('setAside', [contentId])} />}
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
