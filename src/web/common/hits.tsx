import { kindOf } from '../../contract/kinds.ts'
import { parentLibraryPath } from '../../contract/library-path.ts'
import type { AssetRecord, ResourceRecord } from '../../contract/records.ts'
import { describePlace } from './labels.ts'
import { type Marks, wholeWords, withoutAsterisks } from './marks.ts'
import { escapeContent } from './shown-text.ts'

/** More directories are too many for a reader. */
const MAX_FILTERS = 100

/** Returns the directories, but for the root, below which some of the hits lie, with the number of these hits, sorted by path. */
export function directoriesOfHits(hits: readonly ResourceRecord[]): (readonly [path: string, hits: number])[] {
  return countEach(hits, (hit) => new Set((hit.paths ?? []).flatMap((path) => directoriesAbove(path)))).slice(
    0,
    MAX_FILTERS,
  )
}

/** Returns the kinds of the hits, as far as the service says their types, with the number of hits of each. */
export function kindsOfHits(hits: readonly ResourceRecord[]): (readonly [kind: string, hits: number])[] {
  return countEach(hits, ({ mime_type: type }) => (typeof type === 'string' ? [kindOf(type)] : []))
}

/** Returns whether one of the resource's places lies below the directory, and it is of the kind; an empty text means all. */
export function isFiltered(
  hit: ResourceRecord,
  { directory = '', kind = '' }: { readonly directory?: string; readonly kind?: string },
): boolean {
  const liesBelow = directory === '' || (hit.paths ?? []).some((path) => path.startsWith(`${directory}/`))
  return liesBelow && (kind === '' || kindOf(String(hit.mime_type ?? '')) === kind)
}

function countEach(
  hits: readonly ResourceRecord[],
  namesOf: (hit: ResourceRecord) => Iterable<string>,
): (readonly [name: string, hits: number])[] {
  const counts = new Map<string, number>()
  for (const hit of hits) {
    for (const name of namesOf(hit)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
}

function directoriesAbove(path: string): string[] {
  const parent = parentLibraryPath(path)
  return parent === '/' ? [] : [parent, ...directoriesAbove(parent)]
}

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
