import type { ContentPlace } from '../database/tables/passages.ts'
import type { SmallContentsTable } from '../database/tables/small-contents.ts'

/**
 * Finds where a passage stands in the small content of its resource: undefined when the content is large, or does not have the
 * text as it stands, such as a document of another encoding or format. Asked for the passages of a resource in their order.
 */
export type PlaceFinder = (resourceId: number, text: string) => ContentPlace | undefined

export function createPlaceFinder(contents: Pick<SmallContentsTable, 'read'>): PlaceFinder {
  let current: { readonly resourceId: number; readonly bytes: Buffer | undefined } | undefined
  let reached = 0
  return (resourceId, text) => {
    if (current?.resourceId !== resourceId) {
      current = { resourceId, bytes: contents.read(resourceId) }
      reached = 0
    }
    // SQLite ends a text at its first zero.
    if (!current.bytes || text === '' || text.includes('\0')) return undefined
    const wanted = Buffer.from(text)
    const offset = current.bytes.indexOf(wanted, reached)
    if (offset < 0) return undefined
    reached = offset + wanted.length
    return { offset, length: wanted.length }
  }
}
