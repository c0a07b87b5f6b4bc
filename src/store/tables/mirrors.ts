import type Database from 'better-sqlite3'
import { onlyRow } from '../sql/only-row.ts'
import { prepareForgetting } from './forget-mirror.ts'

export interface LibraryRow {
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
  /** Null until a root with a birth time was seen. */
  readonly rootBirthNs: bigint | null
  readonly scrubbedAt: number
  /** `sync DIR` created the mirror, not a configuration. */
  readonly isAdHoc: boolean
  readonly library: LibraryRow
}

export type NewLibrary = Omit<LibraryRow, 'id'>
export interface NewMirror extends Omit<MirrorRow, 'id' | 'library' | 'scrubbedAt'> {
  readonly libraryId: number
}

export type MirrorQueries = ReturnType<typeof prepareMirrors>

interface FlatRow {
  id: bigint
  name: string
  path: string
  remotePath: string
  rootDevice: bigint
  rootInode: bigint
  rootBirthNs: bigint | null
  scrubbedAt: bigint
  isAdHoc: bigint
  libraryId: bigint
  origin: string
  tenantId: bigint
  remoteId: string
  libraryName: string
}

const SELECT = `
  SELECT m.id, m.name, m.path, m.remote_path AS remotePath, m.root_device AS rootDevice, m.root_inode AS rootInode,
         m.root_birth_ns AS rootBirthNs, m.scrubbed_at AS scrubbedAt, m.is_ad_hoc AS isAdHoc,
         l.id AS libraryId, l.origin, l.tenant_id AS tenantId, l.remote_id AS remoteId, l.name AS libraryName
  FROM mirror m JOIN library l ON l.id = m.library_id`

/** Queries on mirrors and their libraries, as pinned at first use. */
export function prepareMirrors(database: Database.Database) {
  const all = database.prepare<[], FlatRow>(`${SELECT} ORDER BY m.name`).safeIntegers()
  const byName = database.prepare<[string], FlatRow>(`${SELECT} WHERE m.name = ?`).safeIntegers()
  const insertLibrary = database.prepare<[string, number, string, string, number], { id: number }>(
    `INSERT INTO library (origin, tenant_id, remote_id, name, pinned_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name RETURNING id`,
  )
  const insertMirror = database.prepare<
    [string, string, number, string, bigint, bigint, bigint | null, number, number, number]
  >(
    `INSERT INTO mirror (name, path, library_id, remote_path, root_device, root_inode, root_birth_ns, pinned_at, scrubbed_at, is_ad_hoc)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const pinRoot = database.prepare<[string, bigint, bigint, bigint | null, number]>(
    'UPDATE mirror SET path = ?, root_device = ?, root_inode = ?, root_birth_ns = ? WHERE id = ?',
  )
  const setAdHoc = database.prepare<[number, number]>('UPDATE mirror SET is_ad_hoc = ? WHERE id = ?')
  const rename = database.prepare<[string, number]>('UPDATE mirror SET name = ? WHERE id = ?')
  const recordScrub = database.prepare<[number, number]>('UPDATE mirror SET scrubbed_at = ? WHERE id = ?')
  const renameLibrary = database.prepare<[string, number]>('UPDATE library SET name = ? WHERE id = ?')
  return {
    ...prepareForgetting(database),
    list: (): MirrorRow[] => all.all().map(inflate),
    findByName: (name: string): MirrorRow | undefined => inflateSome(byName.get(name)),
    /** Inserts the library or updates its name; returns its id. */
    pinLibrary: (library: NewLibrary, nowMs: number): number =>
      onlyRow(insertLibrary.get(library.origin, library.tenantId, library.remoteId, library.name, nowMs)).id,
    pinMirror: (mirror: NewMirror, nowMs: number): void => {
      const { name, path, libraryId, remotePath, rootDevice, rootInode, rootBirthNs, isAdHoc } = mirror
      const times = [nowMs, nowMs] as const
      insertMirror.run(name, path, libraryId, remotePath, rootDevice, rootInode, rootBirthNs, ...times, Number(isAdHoc))
    },
    /** Pins the mirror to another directory. */
    pinRoot: ({
      id,
      path,
      rootDevice,
      rootInode,
      rootBirthNs,
    }: Pick<MirrorRow, 'id' | 'path' | 'rootDevice' | 'rootInode' | 'rootBirthNs'>): void => {
      pinRoot.run(path, rootDevice, rootInode, rootBirthNs, id)
    },
    /** Records whether the mirror comes from `sync DIR` or a configuration. */
    setAdHoc: (mirrorId: number, isAdHoc: boolean): void => {
      setAdHoc.run(Number(isAdHoc), mirrorId)
    },
    rename: (mirrorId: number, name: string): void => {
      rename.run(name, mirrorId)
    },
    /** Records that a scan has hashed every file. */
    recordScrub: (mirrorId: number, nowMs: number): void => {
      recordScrub.run(nowMs, mirrorId)
    },
    renameLibrary: (libraryId: number, name: string): void => {
      renameLibrary.run(name, libraryId)
    },
  }
}

function inflateSome(row: FlatRow | undefined): MirrorRow | undefined {
  return row && inflate(row)
}

function inflate(row: FlatRow): MirrorRow {
  const { name, path, remotePath, rootDevice, rootInode, rootBirthNs, origin, remoteId } = row
  const library = { id: Number(row.libraryId), origin, tenantId: Number(row.tenantId), remoteId, name: row.libraryName }
  const flags = { scrubbedAt: Number(row.scrubbedAt), isAdHoc: row.isAdHoc !== 0n }
  return { id: Number(row.id), name, path, remotePath, rootDevice, rootInode, rootBirthNs, ...flags, library }
}
