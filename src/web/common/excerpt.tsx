import type { AssetRecord } from '../../contract/records.ts'
import { describePlace } from './labels.ts'
import { type Marks, wholeWords, withoutAsterisks } from './marks.ts'
import { escapeContent } from './shown-text.ts'

/** Text of a document, in its lines where the element around it keeps them. */
export function Content({ text }: { readonly text: string }) {
  return <span data-content>{escapeContent(text)}</span>
}

export function Marked({ text, marks }: { readonly text: string; readonly marks: Marks }) {
  const ends = [0, ...marks.map(([, end]) => end)]
  return (
    <>
      {marks.map(([start, end], index) => (
        <>
          <Content text={text.slice(ends[index], start)} />
          <mark key={start}>
            <Content text={text.slice(start, end)} />
          </mark>
        </>
      ))}
      <Content text={text.slice(ends.at(-1))} />
    </>
  )
}

/** The passages of a document that match a search, each with its place in the source. */
export function Excerpts({ assets }: { readonly assets: readonly AssetRecord[] }) {
  return assets.map((asset) => (
    <p key={asset.id} class="excerpt" dir="auto">
      <Marked {...readExcerpt(asset)} /> <span class="place">{describePlace(asset.trace)}</span>
    </p>
  ))
}

const MAX_WORDS = 20

export function foundWords(assets: readonly AssetRecord[]): string[] {
  const found = assets
    .map(readExcerpt)
    .flatMap(({ text, marks }) => marks.map(([start, end]) => text.slice(start, end)))
  return [...new Set(found.map((word) => word.toLowerCase()))].slice(0, MAX_WORDS)
}

function readExcerpt({ excerpt = '', excerpt_marks: given = [] }: AssetRecord) {
  const { text, marks } = withoutAsterisks(excerpt, given)
  return { text, marks: wholeWords(text, marks) }
}
