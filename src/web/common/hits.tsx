import { kindOf } from '../../contract/kinds.ts'
import { parentLibraryPath } from '../../contract/library-path.ts'
import type { AssetRecord, ResourceRecord } from '../../contract/records.ts'
import { describePosition } from './labels.ts'
import { type Marks, wholeWords, withoutAsterisks } from './marks.ts'
import { escapeContent } from './shown-text.ts'

/** How many directories are offered at most, so that users can survey them. */
const MAX_DIRECTORIES = 100

/** Returns the directories, except the root, that hold hits at any depth, sorted by path, each with the number of its hits. */
export function directoriesOfHits(hits: readonly ResourceRecord[]): (readonly [path: string, hits: number])[] {
  return countEach(hits, (hit) => new Set((hit.paths ?? []).flatMap((path) => directoriesAbove(path)))).slice(
    0,
    MAX_DIRECTORIES,
  )
}

/** Returns the kinds of the hits, each with the number of its hits. Hits without a type are left out. */
export function kindsOfHits(hits: readonly ResourceRecord[]): (readonly [kind: string, hits: number])[] {
  return countEach(hits, ({ mime_type: type }) => (typeof type === 'string' ? [kindOf(type)] : []))
}

/** Returns whether a hit is of this kind and has a path below this directory; an empty text means any. */
export function passesFilter(
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

/** Shows text of a document. The style of the element around it decides whether line breaks show. */
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

/** Shows the passages of a document that match a search, each with its position in the source. */
export function Excerpts({ assets }: { readonly assets: readonly AssetRecord[] }) {
  return assets.map((asset) => (
    <p key={asset.id} class="excerpt" dir="auto">
      <Marked {...readExcerpt(asset)} /> <span class="place">{describePosition(asset.trace)}</span>
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

function readExcerpt({ excerpt = '', excerpt_marks: excerptMarks = [] }: AssetRecord) {
  const { text, marks } = withoutAsterisks(excerpt, excerptMarks)
  return { text, marks: wholeWords(text, marks) }
}
