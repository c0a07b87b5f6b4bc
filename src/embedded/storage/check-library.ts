import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { messageOf, OperatorError, systemCodeOf } from '../../foundation/errors.ts'
import { takeKernelLock } from '../../foundation/sqlite/kernel-lock.ts'
import { type CheckedDatabase, checkDatabase } from '../../foundation/sqlite/open-database.ts'
import { packedPath } from '../contents/content-file.ts'
import { DamagedBytesError } from '../contents/packed-bytes.ts'
import {
  explainDamage,
  librarySpecOf,
  openLibraryReadOnly,
  removeEmptyLog,
  wasLeftOpen,
} from '../database/open-library-database.ts'
import { openTables, type Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { MAX_SMALL_BYTES } from './content-receiver.ts'
import { type DataPaths, dataPaths, existingDatabaseFile } from './data-directory.ts'
import { type FileStore, openFileStore, readContent } from './file-store.ts'

/** Something in a data directory that is damaged or missing. */
export interface LibraryProblem {
  readonly what: string
  /** What a user can do about it. */
  readonly todo: string
}

interface LibraryCheck {
  /** The number of contents whose bytes were compared with their hash. */
  readonly contents: number
  readonly sizeBytes: number
  readonly problems: readonly LibraryProblem[]
}

const BATCH = 200

/**
 * Checks every page, index and reference of a data directory's database, and compares the bytes of every content with their hash. It
 * writes nothing, and a service may run meanwhile. Throws UsageError if the directory holds no library, OperatorError (`store-newer`) if
 * its database is of a newer version.
 */
export async function checkLibrary(dataDir: string, signal: AbortSignal): Promise<LibraryCheck> {
  const paths = dataPaths(dataDir)
  const file = existingDatabaseFile(dataDir)
  const isSuspect = wasLeftOpen(file)
  try {
    return await checkData(paths, file, signal)
  } catch (error) {
    if (error instanceof OperatorError && error.code === 'library-damaged') return damagedDatabase(error.message)
    throw error
  } finally {
    if (!isSuspect) removeLogOfReader(paths)
  }
}

async function checkData(paths: DataPaths, file: string, signal: AbortSignal): Promise<LibraryCheck> {
  const database = explainDamage(() => openLibraryReadOnly(file))
  try {
    const dangling = database.pragma('foreign_key_check')
    if (Array.isArray(dangling) && dangling.length > 0) {
      return damagedDatabase(`"${file}" is damaged: ${dangling.length} of its records refer to others that are missing`)
    }
    return await checkContents(openTables(database), openFileStore(paths), signal)
  } finally {
    database.close()
  }
}

/** Removes the empty log that reading creates, unless a service runs: the next start would assume that the database was not closed. */
function removeLogOfReader({ lockFile, databaseFile }: DataPaths): void {
  using lock = takeKernelLock(lockFile)
  if (lock?.isAlone(databaseFile)) removeEmptyLog(databaseFile)
}

function damagedDatabase(what: string): LibraryCheck {
  const todo =
    'stop the server and restore the whole data directory from a backup, or move it away to start with an empty library'
  return { contents: 0, sizeBytes: 0, problems: [{ what, todo }] }
}

async function checkContents(tables: Tables, files: FileStore, signal: AbortSignal): Promise<LibraryCheck> {
  const problems: LibraryProblem[] = []
  let [contents, sizeBytes, lastId] = [0, 0, 0]
  for (;;) {
    const batch = tables.resources.after(lastId, BATCH)
    for (const resource of batch) {
      signal.throwIfAborted()
      const fault = await findFault(tables, files, resource)
      // If the resource was deleted meanwhile, its content is rightly missing.
      if (fault !== undefined && tables.resources.byId(resource.id)) {
        problems.push(contentProblem(tables, files, resource, fault))
      }
      contents += 1
      sizeBytes += resource.sizeBytes
    }
    const last = batch.at(-1)
    if (!last) return { contents, sizeBytes, problems }
    lastId = last.id
  }
}

/** Returns what is wrong with the bytes of a resource, undefined if they are intact. */
async function findFault(tables: Tables, files: FileStore, resource: ResourceRow): Promise<string | undefined> {
  try {
    const content = readContent(tables, files, resource)
    const hash = createHash('sha256')
    for await (const chunk of Buffer.isBuffer(content) ? [content] : content) hash.update(chunk)
    return hash.digest().equals(resource.sha256) ? undefined : 'is not what was uploaded'
  } catch (error) {
    if (error instanceof DamagedBytesError) return 'is not what was uploaded'
    return systemCodeOf(error) === 'ENOENT' ? 'is missing' : `cannot be read (${messageOf(error)})`
  }
}

function contentProblem(tables: Tables, files: FileStore, resource: ResourceRow, fault: string): LibraryProblem {
  const library = tables.libraries.byId(resource.libraryId)?.name ?? ''
  const what = `The content of "${resource.title}" (${resource.publicId}, library "${library}") ${fault}`
  if (resource.sizeBytes <= MAX_SMALL_BYTES) {
    return { what, todo: 'stop the server and restore the whole data directory from a backup' }
  }
  const path = files.pathOf(resource.sha256)
  return {
    what,
    todo: `restore "${path}" or "${packedPath(path)}" from a backup; the SHA-256 of the content is its name`,
  }
}

/**
 * Checks the database of a data directory, which another process may serve, and changes nothing. Returns undefined if there is none yet.
 * Throws OperatorError (`library-damaged`, `store-newer`).
 */
export function inspectLibrary(dataDir: string): CheckedDatabase | undefined {
  const { databaseFile } = dataPaths(dataDir)
  if (!existsSync(databaseFile)) return undefined
  return explainDamage(() => checkDatabase(librarySpecOf(databaseFile), () => undefined))
}
