import type { Store } from '../../src/store/open-store.ts'
import type { MirrorRow } from '../../src/store/tables/mirrors.ts'

interface RecordedFile {
  readonly directory?: string
  readonly name: string
  readonly sha256: Uint8Array
  readonly mime?: string
  readonly size?: number
}

interface PinnedMirror {
  readonly name?: string
  readonly libraryId?: number
  readonly rootInode?: bigint
}

/** Pins a mirror, into the library "L" unless one is given, and returns it. Call it inside a transaction. */
export function pinMirror({ mirrors }: Store, { name = 'm', libraryId, rootInode = 2n }: PinnedMirror = {}): MirrorRow {
  const library = { origin: 'https://a', tenantId: 1, remoteId: 'l', name: 'L' }
  const root = { rootDevice: 1n, rootInode, rootBirthNs: null, rootVolumeId: null, rootVolumeBytes: null }
  const places = { path: `/${name}`, libraryId: libraryId ?? mirrors.pinLibrary(library, 1), remotePath: `/${name}` }
  mirrors.pinMirror({ name, ...places, isAdHoc: true, ...root }, 1)
  const row = mirrors.findByName(name)
  if (!row) throw new Error('The mirror was not pinned')
  return row
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
  const contentId = scannedFiles.record(mirror, file, scannedFiles.lastContentId())
  if (contentId === undefined) throw new Error(`The store refused "${name}"`)
  return contentId
}
