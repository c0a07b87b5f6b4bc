import type { AssetRecord, ResourceRecord } from '../../../contract/records.ts'
import { Excerpt } from '../../common/ui/excerpt.tsx'
import { kindOf, placeInWords, stateInWords } from '../../common/words.ts'
import { addressOf } from '../routes.ts'

/** A document with the passages that matched; its name leads to the best of them. */
export function Hit({ hit, inAllLibraries }: { readonly hit: ResourceRecord; readonly inAllLibraries: boolean }) {
  const { id, title = id, assets = [], paths = [] } = hit
  const library = libraryOf(hit)
  const [best] = assets
  const { tone, state } = stateInWords(hit)
  const place = [inAllLibraries ? library.name : '', paths[0] ?? ''].filter((each) => each !== '').join(' ')
  return (
    <li class="hit">
      <a
        class="item"
        href={addressOf({ view: 'document', library: library.id, resource: id, position: positionOf(best) })}
      >
        {title}
      </a>
      <p class="quiet">
        {place}
        {paths.length > 1 && ` and ${paths.length - 1} more`} · {kindOf(String(hit.mime_type ?? ''))}
        {tone !== 'good' && ` · ${state}`}
      </p>
      {assets.map((asset) => (
        <p key={asset.id} class="excerpt">
          <Excerpt text={asset.excerpt ?? ''} marks={asset.excerpt_marks ?? []} />{' '}
          <span class="place">{placeInWords(asset.trace)}</span>
        </p>
      ))}
    </li>
  )
}

function positionOf(asset: AssetRecord | undefined): number | undefined {
  return typeof asset?.position === 'number' ? asset.position : undefined
}

function libraryOf({ library }: ResourceRecord): { id: string; name: string } {
  const { id = '', name = '' } = (library ?? {}) as { id?: string; name?: string }
  return { id, name }
}
