import type { ContentPlace } from '../database/tables/passages.ts'

/**
 * Finds where a passage stands in the content of its resource: undefined when the content does not have the text as it stands, such
 * as a document of another encoding or format. Asked for the passages of a resource in their order.
 */
export type PlaceFinder = (resourceId: number, text: string) => ContentPlace | undefined

/** So far may a passage begin after the end of the last one: all of a small content, and beyond any gap between passages of text. */
const MAX_GAP_BYTES = 64 * 1024

/** Reads a part of a content, less of it beyond its end. */
type ReadPart = (resourceId: number, offset: number, length: number) => Buffer | undefined

export function createPlaceFinder(readPart: ReadPart): PlaceFinder {
  let currentId: number | undefined
  let reached = 0
  return (resourceId, text) => {
    if (currentId !== resourceId) reached = 0
    currentId = resourceId
    // SQLite ends a text at its first zero.
    if (text === '' || text.includes('\0')) return undefined
    const wanted = Buffer.from(text)
    const found = readPart(resourceId, reached, wanted.length + MAX_GAP_BYTES)?.indexOf(wanted) ?? -1
    if (found < 0) return undefined
    const offset = reached + found
    reached = offset + wanted.length
    return { offset, length: wanted.length }
  }
}
