import type { Ability, Grant, LibraryRight } from '../access/grant.ts'
import { DamagedBytesError } from '../contents/packed-bytes.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import type { StoredPassage } from '../database/passages-table.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { readAssetIdentifier } from '../identifiers.ts'
import type { Service } from '../service-parts.ts'
import { forbidden, notFound } from './api-error.ts'

/** An asset of the interface: a passage of a resource's text, or its moving pictures. */
export type Asset =
  | { readonly kind: 'text'; readonly resource: ResourceRow; readonly passage: StoredPassage }
  | { readonly kind: 'video'; readonly resource: ResourceRow; readonly mimeType: string }

interface Asking {
  readonly service: Service
  /** Undefined when a signed URL has already granted access. */
  readonly grant: Grant | undefined
  readonly id: (name: string) => string
}

/** Throws 403 unless the credential has the global ability. */
export function requireAbility({ grant }: Asking, ability: Ability): void {
  if (!grant?.abilities.includes(ability)) throw forbidden(`"${ability}"`)
}

/** Returns the library that the path names; throws 404 when there is none and 403 without the right on it. */
export function requireLibrary(asking: Asking, right: LibraryRight): LibraryRow {
  const library = asking.service.tables.libraries.byPublicId(asking.id('library'))
  if (!library) throw notFound('Library')
  requireRight(asking.grant, library.id, right)
  return library
}

/** Returns the resource that the path names; throws 404, or 403 when its library may not be read. */
export function requireResource(asking: Asking): ResourceRow {
  return readableResource(asking, asking.id('resource'))
}

/** Returns the asset that the path names; throws 404, or 403 when its library may not be read. */
export function requireAsset(asking: Asking): Asset {
  const { resourceId, part } = readAssetIdentifier(asking.id('asset')) ?? { resourceId: '', part: 0 }
  const resource = readableResource(asking, resourceId, 'Asset')
  if (part === 'video') {
    if (resource.videoType === null) throw notFound('Asset')
    return { kind: 'video', resource, mimeType: resource.videoType }
  }
  const passage = asking.service.tables.passages.one(resource.id, part)
  if (!passage) throw notFound('Asset')
  if (passage.text === '')
    throw new DamagedBytesError(`The stored text of asset ${asking.id('asset')} is gone or damaged`)
  return { kind: 'text', resource, passage }
}

function readableResource({ service, grant }: Asking, publicId: string, thing = 'Resource'): ResourceRow {
  const resource = service.tables.resources.byPublicId(publicId)
  if (!resource) throw notFound(thing)
  requireRight(grant, resource.libraryId, 'read')
  return resource
}

function requireRight(grant: Grant | undefined, libraryId: number, right: LibraryRight): void {
  if (grant && !grant.accessTo({ id: libraryId }).includes(right)) throw forbidden(`"${right}" on this library`)
}
