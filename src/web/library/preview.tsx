import { describeFile } from '../common/labels.ts'
import { useLoaded, WhenLoaded } from '../common/loaded.tsx'
import { Medium } from './document/original.tsx'
import { Passage } from './document/texts.tsx'
import { useSession } from './session.ts'

const PASSAGES = 2

interface PreviewProps {
  readonly library: string
  readonly resource: string
  readonly title: string
  /** Of the first passage. */
  readonly position: number
  readonly words: readonly string[]
}

export function Preview({ library, resource, title, position, words }: PreviewProps) {
  const { api } = useSession()
  const found = useLoaded(`${resource} ${position}`, (signal) => api.showResource(library, resource, position, signal))
  const passages = (found.value?.assets ?? []).filter(({ text }) => typeof text === 'string').slice(0, PASSAGES)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section id={`preview-${resource}`} class="preview original" aria-label={`Preview of ${title}`} tabIndex={0}>
      <h2>Preview</h2>
      <WhenLoaded what="the preview" found={found}>
        {(value) => (
          <>
            <p class="quiet">{describeFile(value)}</p>
            <Medium shown={value} />
            {passages.map((asset) => (
              <Passage key={asset.id} asset={asset} words={words} isAskedFor={false} />
            ))}
            {passages.length === 0 && <p class="quiet">It has no text.</p>}
          </>
        )}
      </WhenLoaded>
    </section>
  )
}
