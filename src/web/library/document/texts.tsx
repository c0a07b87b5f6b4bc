import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AssetRecord, ResourceRecord } from '../../../contract/records.ts'
import { describePlace } from '../../common/labels.ts'
import { Failure } from '../../common/notice.tsx'
import { addressOf, type DocumentRoute } from '../routes.ts'
import { useSession } from '../session.ts'
import { markdownBlocks } from './markdown-blocks.ts'

interface TextsProps {
  readonly route: DocumentRoute
  /** The position from which `first` has its passages. */
  readonly from: number
  readonly first: ResourceRecord
}

/** The text that was taken out of a document, a part at a time. */
export function Texts({ route, from, first }: TextsProps) {
  const { api } = useSession()
  const [further, setFurther] = useState<readonly ResourceRecord[]>([])
  const [error, setError] = useState<unknown>()
  const parts = [first, ...further]
  const next = parts.at(-1)?.next_assets_from
  const readOn = async () => {
    if (typeof next !== 'number') return
    setError(undefined)
    try {
      const part = await api.showResource(route.library, route.resource, next, AbortSignal.timeout(20_000))
      setFurther([...further, part])
    } catch (failure) {
      setError(failure)
    }
  }
  const assets = parts.flatMap((part) => part.assets ?? []).filter(({ text }) => typeof text === 'string')
  if (assets.length === 0) return null
  return (
    <section class="texts" aria-label="Text">
      <h2>Text</h2>
      {from > 0 && <a href={addressOf({ ...route, position: undefined })}>From the beginning</a>}
      {assets.map((asset) => (
        <Passage
          key={asset.id}
          asset={asset}
          isAskedFor={route.position !== undefined && asset.position === route.position}
        />
      ))}
      {error !== undefined && <Failure error={error} onRetry={readOn} />}
      {typeof next === 'number' && error === undefined && (
        <button type="button" onClick={readOn}>
          Read on
        </button>
      )}
    </section>
  )
}

function Passage({ asset, isAskedFor }: { readonly asset: AssetRecord; readonly isAskedFor: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isAskedFor) place.current?.scrollIntoView({ block: 'center' })
  }, [isAskedFor])
  const { trace, text, mime_type: mimeType } = asset
  return (
    <div ref={place} class={isAskedFor ? 'passage asked-for' : 'passage'}>
      <p class="place">{describePlace(trace)}</p>
      <div class="text" lang="">
        {mimeType === 'text/markdown' ? <Markdown text={text ?? ''} /> : <p class="lines">{text}</p>}
      </div>
    </div>
  )
}

const TAGS = { heading: 'h3', paragraph: 'p', lines: 'p', code: 'pre' } as const

function Markdown({ text }: { readonly text: string }) {
  return (
    <>
      {markdownBlocks(text).map(({ kind, text: part }, index) => {
        const Tag = TAGS[kind]
        return (
          <Tag key={`${index} ${kind}`} class={kind}>
            {part}
          </Tag>
        )
      })}
    </>
  )
}
