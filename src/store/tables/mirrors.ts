import type Database from 'better-sqlite3'
import { onlyRow } from '../sql.ts'

export type MirrorKey = Readonly<{ id: number; library: Readonly<{ id: number }> }>

interface LibraryRow {
  readonly id: number
  readonly origin: string
  readonly tenantId: number
  readonly remoteId: string
  readonly name: string
}

export interface MirrorRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly remotePath: string
  readonly rootDevice: bigint
  readonly rootInode: bigint
  /** Null until a birth time was seen. */
  readonly rootBirthNs: bigint | null
  /** UUID and size of the file system, if it has no birth times. */
  readonly rootVolumeId: string | null
  readonly rootVolumeBytes: number | null
  readonly scrubbedAt: number
  readonly isAdHoc: boolean
  readonly library: LibraryRow
}

export type PinnedRoot = Pick<
  MirrorRow,
  'path' | 'rootDevice' | 'rootInode' | 'rootBirthNs' | 'rootVolumeId' | 'rootVolumeBytes'
>

type NewLibrary = Omit<LibraryRow, 'id'>
type NewMirror = Omit<MirrorRow, 'id' | 'library' | 'scrubbedAt'> & { readonly libraryId: number }

/** SQLite returns every integer as bigint. */
type FlatRow = Pick<MirrorRow, 'name' | 'remotePath'> &
  Omit<PinnedRoot, 'rootVolumeBytes'> &
  Pick<LibraryRow, 'origin' | 'remoteId'> & {
    readonly rootVolumeBytes: bigint | null
    readonly libraryName: string
  } & Readonly<Record<'id' | 'scrubbedAt' | 'isAdHoc' | 'libraryId' | 'tenantId', bigint>>

const SELECT = `
  SELECT m.id, m.name, m.path, m.remote_path AS remotePath, m.root_device AS rootDevice, m.root_inode AS rootInode,
         m.root_birth_ns AS rootBirthNs, m.root_volume_id AS rootVolumeId, m.root_volume_bytes AS rootVolumeBytes,
         m.scrubbed_at AS scrubbedAt, m.is_ad_hoc AS isAdHoc,
         l.id AS libraryId, l.origin, l.tenant_id AS tenantId, l.remote_id AS remoteId, l.name AS libraryName
  FROM mirror m JOIN library l ON l.id = m.library_id`

export function prepareMirrors(database: Database.Database) {
  const all = database.prepare<[], FlatRow>(`${SELECT} ORDER BY m.name`).safeIntegers()
  const byName = database.prepare<[string], FlatRow>(`${SELECT} WHERE m.name = ?`).safeIntegers()
  const insertLibrary = database.prepare<[string, number, string, string, number], { id: number }>(
    `INSERT INTO library (origin, tenant_id, remote_id, name, pinned_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name RETURNING id`,
  )
  const insertMirror = database.prepare<
    [PinnedRoot & { name: string; libraryId: number; remotePath: string; nowMs: number; isAdHoc: number }]
  >(
    `INSERT INTO mirror (name, path, library_id, remote_path, root_device, root_inode, root_birth_ns, root_volume_id,
       root_volume_bytes, pinned_at, scrubbed_at, is_ad_hoc)
     VALUES (@name, @path, @libraryId, @remotePath, @rootDevice, @rootInode, @rootBirthNs, @rootVolumeId, @rootVolumeBytes,
       @nowMs, @nowMs, @isAdHoc)`,
  )
  const pinRoot = database.prepare<[PinnedRoot & { id: number }]>(
    `UPDATE mirror SET path = @path, root_device = @rootDevice, root_inode = @rootInode, root_birth_ns = @rootBirthNs,
       root_volume_id = @rootVolumeId, root_volume_bytes = @rootVolumeBytes WHERE id = @id`,
  )
  const setAdHoc = database.prepare<[number, number]>('UPDATE mirror SET is_ad_hoc = ? WHERE id = ?')
  const rename = database.prepare<[string, number]>('UPDATE mirror SET name = ? WHERE id = ?')
  const recordScrub = database.prepare<[number, number]>('UPDATE mirror SET scrubbed_at = ? WHERE id = ?')
  const renameLibrary = database.prepare<[string, number]>('UPDATE library SET name = ? WHERE id = ?')
  return {
    ...prepareForgetting(database),
    list: (): MirrorRow[] => all.all().map(inflate),
    findByName: (name: string): MirrorRow | undefined => {
      const row = byName.get(name)
      return row && inflate(row)
    },
    pinLibrary: (library: NewLibrary, nowMs: number): number =>
      onlyRow(insertLibrary.get(library.origin, library.tenantId, library.remoteId, library.name, nowMs)).id,
    pinMirror: (mirror: NewMirror, nowMs: number) =>
      void insertMirror.run({ ...mirror, nowMs, isAdHoc: Number(mirror.isAdHoc) }),
    pinRoot: ({ id, path, rootDevice, rootInode, ...volume }: PinnedRoot & Pick<MirrorRow, 'id'>): void => {
      const { rootBirthNs, rootVolumeId, rootVolumeBytes } = volume
      pinRoot.run({ id, path, rootDevice, rootInode, rootBirthNs, rootVolumeId, rootVolumeBytes })
    },
    setAdHoc: (mirrorId: number, isAdHoc: boolean) => void setAdHoc.run(Number(isAdHoc), mirrorId),
    rename: (mirrorId: number, name: string) => void rename.run(name, mirrorId),
    recordScrub: (mirrorId: number, nowMs: number) => void recordScrub.run(nowMs, mirrorId),
    renameLibrary: (libraryId: number, name: string) => void renameLibrary.run(name, libraryId),
  }
}

function inflate({ origin, tenantId, remoteId, libraryId, libraryName, ...row }: FlatRow): MirrorRow {
  return {
    ...row,
    id: Number(row.id),
    rootVolumeBytes: row.rootVolumeBytes === null ? null : Number(row.rootVolumeBytes),
    scrubbedAt: Number(row.scrubbedAt),
    isAdHoc: row.isAdHoc !== 0n,
    library: { id: Number(libraryId), origin, tenantId: Number(tenantId), remoteId, name: libraryName },
  }
}

interface Forgotten {
  readonly id: number
  readonly libraryId: number
}

/** Whether another mirror has a file, an earlier path or an upload of the content `c`. */
const IS_USED_ELSEWHERE = `(
  EXISTS (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id <> @id)
  OR EXISTS (SELECT 1 FROM history fo WHERE fo.content_id = c.id AND fo.mirror_id <> @id)
  OR EXISTS (SELECT 1 FROM upload u WHERE u.content_id = c.id AND u.mirror_id <> @id))`

/** The id of another mirror that uses a content (IS_USED_ELSEWHERE). */
const otherMirror = (contentId: string) => `coalesce(
  (SELECT d.mirror_id FROM file f JOIN directory d ON d.id = f.directory_id
    WHERE f.content_id = ${contentId} AND d.mirror_id <> @id LIMIT 1),
  (SELECT fo.mirror_id FROM history fo WHERE fo.content_id = ${contentId} AND fo.mirror_id <> @id LIMIT 1),
  (SELECT u.mirror_id FROM upload u WHERE u.content_id = ${contentId} AND u.mirror_id <> @id LIMIT 1))`

/** Rows are deleted before those that they refer to. Contents and uploads that another mirror uses are handed over to it. */
const STEPS = [
  `DELETE FROM upload WHERE content_id IN (SELECT c.id FROM content c WHERE c.library_id = @libraryId AND NOT ${IS_USED_ELSEWHERE})`,
  'DELETE FROM history WHERE mirror_id = @id',
  'DELETE FROM file WHERE directory_id IN (SELECT id FROM directory WHERE mirror_id = @id)',
  'DELETE FROM directory WHERE mirror_id = @id',
  'DELETE FROM problem WHERE mirror_id = @id',
  'DELETE FROM unconfirmed WHERE mirror_id = @id',
  `UPDATE content SET mirror_id = ${otherMirror('content.id')} WHERE mirror_id = @id`,
  `DELETE FROM content AS c WHERE c.library_id = @libraryId AND NOT ${IS_USED_ELSEWHERE}`,
  `UPDATE upload SET mirror_id = ${otherMirror('upload.content_id')} WHERE mirror_id = @id`,
  'DELETE FROM mirror WHERE id = @id',
  'DELETE FROM foreign_entry WHERE library_id = @libraryId AND NOT EXISTS (SELECT 1 FROM mirror m WHERE m.library_id = @libraryId)',
  `DELETE FROM library WHERE id = @libraryId
     AND NOT EXISTS (SELECT 1 FROM mirror m WHERE m.library_id = library.id)`,
]

function prepareForgetting(database: Database.Database) {
  const steps = STEPS.map((sql) => database.prepare<[Forgotten]>(sql))
  const files = database
    .prepare<[Forgotten], number>(
      'SELECT count(*) FROM file f JOIN directory d ON d.id = f.directory_id WHERE d.mirror_id = @id',
    )
    .pluck()
  const resources = database
    .prepare<[Forgotten], number>(
      `SELECT count(*) FROM content c WHERE c.library_id = @libraryId AND c.state = 'stored' AND NOT ${IS_USED_ELSEWHERE}`,
    )
    .pluck()
  return {
    /** Counts the mirror's present files, and resources that no other mirror uses. */
    countHoldings: (mirror: Forgotten) => ({
      files: onlyRow(files.get(mirror)),
      resources: onlyRow(resources.get(mirror)),
    }),
    /** Deletes the mirror and what only it uses. Call it inside a write. */
    forget: (mirror: Forgotten) => steps.forEach((step) => void step.run(mirror)),
  }
}
