import type { LibraryRecord } from '../../../contract/records.ts'
import type { LibraryRow } from '../../database/tables/libraries.ts'

/** 2.5 */
export function libraryBody(library: LibraryRow): LibraryRecord {
  return {
    id: library.publicId,
    name: library.name,
    overview: library.overview,
    created_at: new Date(library.createdAtMs).toISOString(),
    updated_at: new Date(library.updatedAtMs).toISOString(),
  }
}
