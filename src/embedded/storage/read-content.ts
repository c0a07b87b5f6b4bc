import type { Readable } from 'node:stream'
import type { ByteRange } from '../contents/seekable-zstd.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/tables/resources.ts'
import { MAX_SMALL_BYTES } from './content-receiver.ts'
import type { FileStore } from './file-store.ts'

/** Returns the original bytes of a resource, or a part of them: a small content as a buffer, a large one as a stream. */
export function readContent(
  tables: Tables,
  files: FileStore,
  resource: ResourceRow,
  range?: ByteRange,
): Buffer | Readable {
  if (resource.sizeBytes > MAX_SMALL_BYTES) return files.stream(resource.sha256, range)
  const bytes = tables.smallContents.read(resource.id)
  if (!bytes) throw new Error(`The content of resource ${resource.publicId} is missing`)
  return range ? bytes.subarray(range.start, range.end + 1) : bytes
}
