import { describeFile } from '../common/labels.ts'
import { Failure, Loading } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
import { Medium } from './document/original.tsx'
import { Passage } from './document/texts.tsx'
import type { DocumentRoute } from './routes.ts'
import { useSession } from './session.ts'

const PASSAGES = 2

interface PreviewProps {
  readonly id: string
  readonly title: string
  readonly route: DocumentRoute
}

export function Preview({ id, title, route }: PreviewProps) {
  const { api } = useSession()
  const { library, resource, position = 0, words } = route
  const { value, error, retry } = useLoaded(`${resource} ${position}`, (signal) =>
    api.showResource(library, resource, position, signal),
  )
  const passages = (value?.assets ?? []).filter(({ text }) => typeof text === 'string').slice(0, PASSAGES)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section id={id} class="preview original" aria-label={`Preview of ${title}`} tabIndex={0}>
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
