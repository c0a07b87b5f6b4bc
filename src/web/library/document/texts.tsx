import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AssetRecord, ResourceRecord } from '../../../contract/records.ts'
import { Marked } from '../../common/hits.tsx'
import { describePosition } from '../../common/labels.ts'
import { marksOf } from '../../common/marks.ts'
import { Failure, useAction } from '../../common/view.tsx'
import { documentAddress } from '../addresses.ts'
import { useSession } from '../session.ts'
import { markdownBlocks, tableRows } from './markdown-blocks.ts'

interface TextsProps {
  readonly library: string
  /** The position of the passage asked for; undefined for the beginning. */
  readonly position: number | undefined
  readonly words: readonly string[]
  /** The position of the first passage in `first`. */
  readonly from: number
  readonly first: ResourceRecord
}

export function Texts({ library, position, words, from, first }: TextsProps) {
  const { api } = useSession()
  const [further, setFurther] = useState<readonly ResourceRecord[]>([])
  const parts = [first, ...further]
  const next = parts.at(-1)?.next_assets_from
  const { failure, run: readOn } = useAction(async () => {
    const part = await api.showResource(library, first.id, Number(next), AbortSignal.timeout(20_000))
    setFurther([...further, part])
  })
  const assets = parts.flatMap((part) => part.assets ?? []).filter(({ text }) => typeof text === 'string')
  if (assets.length === 0) return null
  return (
    <section class="texts" aria-label="Text">
      <h2>Text</h2>
      {from > 0 && <a href={documentAddress(library, first.id, { word: words })}>From the beginning</a>}
      {assets.map((asset) => (
        <Passage
          key={asset.id}
          asset={asset}
          words={words}
          isAskedFor={position !== undefined && asset.position === position}
        />
      ))}
      {failure !== '' && <Failure message={failure} onRetry={readOn} />}
      {typeof next === 'number' && failure === '' && (
        <button type="button" onClick={readOn}>
          Read on
        </button>
      )}
    </section>
  )
}

interface PassageProps {
  readonly asset: AssetRecord
  readonly words: readonly string[]
  readonly isAskedFor: boolean
}

/** Shows a passage. The one that is asked for scrolls into view at its first marked word. */
export function Passage({ asset, words, isAskedFor }: PassageProps) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isAskedFor) (element.current?.querySelector('mark') ?? element.current)?.scrollIntoView({ block: 'center' })
  }, [isAskedFor])
  const { trace, text, mime_type: mimeType } = asset
  const isOfRows = Array.isArray(trace) && trace[0]?.unit === 'row'
  return (
    <div ref={element} class={isAskedFor ? 'passage asked-for' : 'passage'}>
      <p class="place">{describePosition(trace)}</p>
      <div class="text" lang="">
        {mimeType === 'text/markdown' ? (
          <Markdown text={text ?? ''} words={words} />
        ) : isOfRows ? (
          <Table text={text ?? ''} words={words} />
        ) : (
          <p class="lines" dir="auto">
            <Marked text={text ?? ''} marks={marksOf(text ?? '', words)} />
          </p>
        )}
      </div>
    </div>
  )
}

const TAGS = { heading: 'h3', paragraph: 'p', lines: 'p', code: 'pre' } as const

function Table({ text, words }: Parameters<typeof Markdown>[0]) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="table" tabIndex={0} aria-label="Table">
      <table>
        {tableRows(text).map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, column) => (
              <td key={column} dir="auto">
                <Marked text={cell} marks={marksOf(cell, words)} />
              </td>
            ))}
          </tr>
        ))}
      </table>
    </section>
  )
}

function Markdown({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  return (
    <>
      {markdownBlocks(text).map(({ kind, text: part }, index) => {
        if (kind === 'table') return <Table key={`${index} ${kind}`} text={part} words={words} />
        const Tag = TAGS[kind]
        return (
          <Tag key={`${index} ${kind}`} class={kind} dir={kind === 'code' ? undefined : 'auto'}>
            <Marked text={part} marks={marksOf(part, words)} />
          </Tag>
        )
      })}
    </>
  )
}
