import type { Store } from '../../src/store/open-store.ts'

interface RecordedFile {
  readonly directory?: string
  readonly name: string
  readonly sha256: Uint8Array
  readonly mime?: string
  readonly size?: number
}

/** Records a file that nobody knew, as a scan does, and returns the id of its content. Call it inside a transaction. */
export function recordFile(
  { directories, scannedFiles }: Store,
  mirror: { readonly id: number; readonly library: { readonly id: number } },
  { directory = '', name, sha256, mime = 'text/plain', size = 1 }: RecordedFile,
): number {
  const directoryId = directories.ensure(mirror.id, directory)
  const times = { mtimeNs: 2n ** 62n, ctimeNs: 2n ** 61n + 1n, inode: 2n ** 60n + 1n }
  const file = { directoryId, name, size, ...times, isRacy: false, sha256, mime, previous: undefined }
  return scannedFiles.record(mirror, file, scannedFiles.lastContentId())
}
