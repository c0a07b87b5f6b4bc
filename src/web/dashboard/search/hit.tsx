import type { ResourceRecord } from '../../../contract/records.ts'
import { Excerpt } from '../../common/ui/excerpt.tsx'
import { kindOf, placeInWords } from '../../common/words.ts'
import { ActionButton } from '../action-button.tsx'
import { useSession } from '../api/session.ts'
import { openDocument } from '../open-document.ts'

/** A document with the passages that matched. */
export function Hit({ hit }: { readonly hit: ResourceRecord }) {
  const { client } = useSession()
  const { id, title = id, assets = [], paths = [] } = hit
  return (
    <li class="hit">
      <p class="item">{title}</p>
      <p class="quiet path">
        {[paths[0], kindOf(String(hit.mime_type ?? ''))].filter((each) => each !== undefined).join(' · ')}
      </p>
      {assets.map((asset) => (
        <p key={asset.id} class="excerpt">
          <Excerpt text={asset.excerpt ?? ''} marks={asset.excerpt_marks ?? []} />{' '}
          <span class="place">{placeInWords(asset.trace)}</span>
        </p>
      ))}
      <div class="actions">
        <ActionButton words="Open the document" of={title} run={() => openDocument(client, id)} />
      </div>
    </li>
  )
}
