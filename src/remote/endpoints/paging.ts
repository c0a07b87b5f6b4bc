import { hash } from 'node:crypto'
import { TemporaryError } from '../../foundation/errors.ts'
import type { Query } from '../wire/request.ts'

export interface Page {
  readonly next_cursor: string | null
  readonly truncated: boolean
}

/** A listing with more pages counts as endless. */
const MAX_PAGES = 200_000
/** pagesOf keeps longer cursors as digests (44 characters). */
const MAX_KEPT_LENGTH = 64

/**
 * Yields the pages of a listing; cursors go back unchanged. Throws TemporaryError('answer-malformed') if a page
 * contradicts itself, a cursor repeats or the listing does not end: the pages yielded until then are not the whole listing.
 */
export async function* pagesOf<P extends Page>(
  what: string,
  fetchPage: (cursor: string | undefined) => Promise<P>,
  mostPages = MAX_PAGES,
): AsyncGenerator<P> {
  const seen = new Set<string>()
  let cursor: string | undefined
  while (seen.size < mostPages) {
    const page = await fetchPage(cursor)
    if (page.truncated !== (page.next_cursor !== null))
      throw incomplete(what, 'in one page, "truncated" and "next_cursor" contradict each other')
    if (page.next_cursor !== null && seen.has(markOf(page.next_cursor)))
      throw incomplete(what, 'the service sent a cursor twice')
    yield page
    if (page.next_cursor === null) return
    cursor = page.next_cursor
    seen.add(markOf(cursor))
  }
  throw incomplete(what, 'it has too many pages')
}

/** A short form of a cursor, since pagesOf keeps all cursors of a listing. */
function markOf(cursor: string): string {
  return cursor.length <= MAX_KEPT_LENGTH ? cursor : hash('sha256', cursor, 'base64')
}

export function pageQuery(limit: number, cursor: string | undefined): Query {
  const size = ['limit', String(limit)] as const
  return cursor === undefined ? [size] : [size, ['cursor', cursor]]
}

function incomplete(what: string, reason: string): TemporaryError {
  return new TemporaryError('answer-malformed', `${what}: the listing is incomplete, ${reason}`)
}
