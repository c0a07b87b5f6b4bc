import type { LibraryRecord } from '../../../contract/records.ts'
import { isoTime } from '../../../foundation/text/times.ts'
import type { LibraryRow } from '../../database/tables/libraries.ts'

/** 2.5 */
export function libraryBody(library: LibraryRow): LibraryRecord {
  return {
    id: library.publicId,
    name: library.name,
    overview: library.overview,
    created_at: isoTime(library.createdAtMs),
    updated_at: isoTime(library.updatedAtMs),
  }
}
