import { z } from 'zod'
import { PAGE_LIMITS } from '../../contract/routes.ts'
import type { Grant } from '../access/grant.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { question } from '../http/endpoint.ts'
import { exactLibraryPage } from '../http/exact-records.ts'
import { cursorInput, integerInput } from '../http/inputs.ts'

const LISTING = 'libraries'

export const listLibraries = question({
  route: 'listLibraries',
  summary: 'List the libraries that the credential can read',
  description: 'In the order of their creation. A cursor that was not given by this listing is answered with 422.',
  query: z.object({ limit: integerInput({ min: 1, ...PAGE_LIMITS.libraries }), cursor: cursorInput }),
  answers: { 200: { description: 'A page of libraries', shape: exactLibraryPage } },
  errors: [401, 403, 422],
  handle({ service, grant, query: { limit, cursor } }) {
    const after = cursor === undefined ? 0 : service.cursors.read(LISTING, cursor, z.int())
    const found = readableAfter(service.tables, grant, after, limit + 1)
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const nextCursor = found.length > limit && last ? service.cursors.write(LISTING, last.id) : null
    const items = shown.map((library) => ({
      id: library.publicId,
      name: library.name,
      access: grant?.accessTo(library) ?? [],
    }))
    return { items, limit, next_cursor: nextCursor, truncated: nextCursor !== null }
  },
})

function readableAfter(tables: Tables, grant: Grant | undefined, after: number, count: number): LibraryRow[] {
  const found: LibraryRow[] = []
  let last = after
  for (;;) {
    const batch = tables.libraries.after(last, count)
    found.push(...batch.filter((library) => grant?.accessTo(library).includes('read')))
    last = batch.at(-1)?.id ?? last
    if (found.length >= count || batch.length < count) return found.slice(0, count)
  }
}
