import type { LibraryRecord } from '../../contract/records.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import { endpoint } from '../http/endpoint.ts'
import { exactLibrary } from '../http/exact-records.ts'
import { requireLibrary } from '../http/require-access.ts'

export const showLibrary = endpoint({
  route: 'showLibrary',
  summary: 'Show a library',
  description: 'A library that exists but that the credential cannot read is answered with 403.',
  answers: { 200: { description: 'The library', shape: exactLibrary } },
  errors: [401, 403, 404],
  handle: (call) => libraryBody(requireLibrary(call, 'read')),
})

export function libraryBody(library: LibraryRow): LibraryRecord {
  return {
    id: library.publicId,
    name: library.name,
    overview: library.overview,
    created_at: isoTime(library.createdAtMs),
    updated_at: isoTime(library.updatedAtMs),
  }
}
