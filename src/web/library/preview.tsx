import { describeFile } from '../common/labels.ts'
import { Failure, Loading } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
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
  const { value, error, retry } = useLoaded(`${resource} ${position}`, (signal) =>
    api.showResource(library, resource, position, signal),
  )
  const passages = (value?.assets ?? []).filter(({ text }) => typeof text === 'string').slice(0, PASSAGES)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section id={`preview-${resource}`} class="preview original" aria-label={`Preview of ${title}`} tabIndex={0}>
      <h2>Preview</h2>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {!value && error === undefined && <Loading what="the preview" />}
      {value && (
        <>
          <p class="quiet">{describeFile(value)}</p>
          <Medium shown={value} />
          {passages.map((asset) => (
            <Passage key={asset.id} asset={asset} words={words} isAskedFor={false} />
          ))}
          {passages.length === 0 && <p class="quiet">It has no text.</p>}
        </>
      )}
    </section>
  )
}
