import type { Ability, Grant, LibraryRight } from '../access/grant.ts'
import { DamagedBytesError } from '../contents/packed-bytes.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import type { StoredPassage } from '../database/passages-table.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { readAssetIdentifier } from '../identifiers.ts'
import { forbidden, notFound } from './api-error.ts'
import type { RequestContext } from './endpoint.ts'

/** An asset of the interface: a passage of a resource's text, or the video of the resource. */
export type Asset =
  | { readonly kind: 'text'; readonly resource: ResourceRow; readonly passage: StoredPassage }
  | { readonly kind: 'video'; readonly resource: ResourceRow; readonly mimeType: string }

/** Throws 403 unless the credential has the global ability. */
export function requireAbility({ grant }: RequestContext, ability: Ability): void {
  if (!grant?.abilities.includes(ability)) throw forbidden(`"${ability}"`)
}

/** Returns the library that the path names; throws 404 if there is none, 403 if the caller does not have the right on it. */
export function requireLibrary(context: RequestContext, right: LibraryRight): LibraryRow {
  const library = context.service.tables.libraries.byPublicId(context.id('library'))
  if (!library) throw notFound('Library')
  requireRight(context.grant, library.id, right)
  return library
}

/** Returns the resource that the path names; throws 404 if there is none, 403 if the caller may not read its library. */
export function requireResource(context: RequestContext): ResourceRow {
  return readableResource(context, context.id('resource'))
}

/** Returns the asset that the path names; throws 404 if there is none, 403 if the caller may not read its library. */
export function requireAsset(context: RequestContext): Asset {
  const { resourceId, part } = readAssetIdentifier(context.id('asset')) ?? { resourceId: '', part: 0 }
  const resource = readableResource(context, resourceId, 'Asset')
  if (part === 'video') {
    if (resource.videoType === null) throw notFound('Asset')
    return { kind: 'video', resource, mimeType: resource.videoType }
  }
  const passage = context.service.tables.passages.one(resource.id, part)
  if (!passage) throw notFound('Asset')
  if (passage.text === '')
    throw new DamagedBytesError(`The stored text of asset ${context.id('asset')} is gone or damaged`)
  return { kind: 'text', resource, passage }
}

function readableResource({ service, grant }: RequestContext, publicId: string, thing = 'Resource'): ResourceRow {
  const resource = service.tables.resources.byPublicId(publicId)
  if (!resource) throw notFound(thing)
  requireRight(grant, resource.libraryId, 'read')
  return resource
}

function requireRight(grant: Grant | undefined, libraryId: number, right: LibraryRight): void {
  if (grant && !grant.accessTo({ id: libraryId }).includes(right)) throw forbidden(`"${right}" on this library`)
}
