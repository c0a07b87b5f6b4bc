import type { AssetRecord } from '../../contract/records.ts'
import { describePlace } from './labels.ts'

interface ExcerptProps {
  /** Each marked word is between two asterisks on either side. */
  readonly text: string
  /** The begin and end of each matching word, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[]
}

/** A part of a text with its matching words marked. */
function Excerpt({ text, marks }: ExcerptProps) {
  const ends = [-2, ...marks.map(([, end]) => end)]
  return (
    <>
      {marks.map(([start, end], index) => (
        <>
          {text.slice((ends[index] ?? 0) + 2, start - 2)}
          <mark key={start}>{text.slice(start, end)}</mark>
        </>
      ))}
      {text.slice((ends.at(-1) ?? 0) + 2)}
    </>
  )
}

/** The passages of a document that match a search, each with its place in the source. */
export function Excerpts({ assets }: { readonly assets: readonly AssetRecord[] }) {
  return assets.map((asset) => (
    <p key={asset.id} class="excerpt">
      <Excerpt text={asset.excerpt ?? ''} marks={asset.excerpt_marks ?? []} />{' '}
      <span class="place">{describePlace(asset.trace)}</span>
    </p>
  ))
}
