import { useEffect } from 'preact/hooks'
import { nameOfLibraryPath, parentLibraryPath } from '../../../contract/library-path.ts'
import type { ResourceRecord } from '../../../contract/records.ts'
import { ingestionOutcome } from '../../../contract/states.ts'
import type { ViewProps } from '../../common/address.ts'
import { describeFile, describeState } from '../../common/labels.ts'
import { type Loaded, Notice, useKeys, useLoaded, ViewHeading, WhenLoaded } from '../../common/view.tsx'
import { directoryAddress, documentAddress } from '../addresses.ts'
import { Crumbs } from '../directory-view.tsx'
import { useSession } from '../session.ts'
import { Original } from './original.tsx'
import { Texts } from './texts.tsx'

/** How many passages are shown before the one asked for, as its context. */
const PASSAGES_BEFORE = 2
const POLL_MS = 700

export function DocumentView({ names, query, words, cameFrom, takesFocus }: ViewProps) {
  const [library = '', resource = ''] = names
  const position = query.at ? Number(query.at) || 0 : undefined
  const { api } = useSession()
  const from = Math.max(0, (position ?? 0) - PASSAGES_BEFORE)
  const found = useLoaded(`${library} ${resource} ${from}`, (signal) =>
    api.showResource(library, resource, from, signal),
  )
  usePolling(found)
  useKeys({
    Escape: () => {
      if (cameFrom !== '') return history.back()
      location.hash = directoryAddress(library, parentLibraryPath(found.value?.paths?.[0] ?? '/'))
    },
  })
  return (
    <article>
      <WhenLoaded what="the document" found={found}>
        {(shown) => (
          <>
            <Crumbs library={library} path={parentLibraryPath(shown.paths?.[0] ?? '/')} />
            <ViewHeading title={shown.title ?? 'Document'} takesFocus={takesFocus} />
            <Facts shown={shown} />
            {shown.superseded_by && (
              <Notice tone="plain">
                This is an earlier version: <a href={documentAddress(library, shown.superseded_by)}>the present one</a>
              </Notice>
            )}
            <State shown={shown} />
            <Original library={library} shown={shown} />
            <Texts library={library} position={position} words={words} from={from} first={shown} />
          </>
        )}
      </WhenLoaded>
    </article>
  )
}

/** Loads the document again and again until its processing has ended. */
function usePolling({ value, isLoading, retry }: Loaded<ResourceRecord>): void {
  const isPending = value !== undefined && ingestionOutcome(value.ingestion_status) === 'pending'
  useEffect(() => {
    if (!isPending || isLoading) return
    const timer = setTimeout(retry, POLL_MS)
    return () => clearTimeout(timer)
  }, [isPending, isLoading, value])
}

function Facts({ shown }: { readonly shown: ResourceRecord }) {
  const { paths = [] } = shown
  return (
    <>
      <p class="quiet facts">{describeFile(shown)}</p>
      {paths.length > 1 && (
        <details class="quiet">
          <summary>In {paths.length} places</summary>
          <ul>
            {paths.map((path) => (
              <li key={path}>
                {parentLibraryPath(path)} as {nameOfLibraryPath(path)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function State({ shown }: { readonly shown: ResourceRecord }) {
  const { tone, state, reasons } = describeState(shown)
  return (
    <div role="status">
      {tone === 'good' ? (
        <p class="state good">{state}</p>
      ) : (
        <Notice tone={tone === 'problem' ? 'warning' : 'plain'}>
          <p class={`state ${tone}`}>{state}</p>
          {reasons.map((reason) => (
            <p key={reason}>{reason}</p>
          ))}
        </Notice>
      )}
    </div>
  )
}
