import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LockedError, messageOf, OperatorError, UsageError } from '../../foundation/errors.ts'
import { describeHolder } from '../../foundation/files/lock-holder.ts'
import { isOwnFile, readOwnFile } from '../../foundation/files/own-file.ts'
import { makeOwnDirectory } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'
import { isKernelLockHeld, type KernelLock, takeKernelLock } from '../../foundation/sqlite/kernel-lock.ts'
import { isOutOfReach } from '../../foundation/sqlite/open-database.ts'
import { contentDirOf } from '../database/read-contents.ts'
import type { Settings } from '../database/settings-table.ts'
import { type Holder, readLibraryHolder } from './holder-file.ts'

const MAX_TEXT_BYTES = 4_096

export type DataPaths = Readonly<ReturnType<typeof dataPaths>>

/** Returns the paths of one library service. */
export function dataPaths(directory: string) {
  return {
    directory,
    lockFile: join(directory, 'lock'),
    /** Says how to reach the process that serves the library; exists while one does. */
    holderFile: join(directory, 'holder'),
    databaseFile: join(directory, 'library.sqlite'),
    tokenFile: join(directory, 'token'),
    instanceFile: join(directory, 'instance'),
    contentDir: contentDirOf(join(directory, 'library.sqlite')),
    /** Pictures of videos; may be absent. */
    picturesDir: join(directory, 'pictures'),
    temporaryDir: join(directory, 'tmp'),
  }
}

/** The database of a directory that has been served before; throws UsageError when there is none. */
export function existingDatabaseFile(directory: string): string {
  const { databaseFile } = dataPaths(directory)
  if (isOwnFile(databaseFile)) return databaseFile
  throw new UsageError('bad-usage', `There is no library in "${directory}" yet: run "shelfd serve" once`)
}

/** Creates the directories of contents and unfinished uploads (0700); removes unfinished uploads of an earlier process. */
export function prepareDataDirectory(paths: DataPaths): void {
  rmSync(paths.temporaryDir, { recursive: true, force: true })
  for (const directory of [paths.contentDir, paths.temporaryDir]) mkdirSync(directory, { recursive: true, mode: 0o700 })
}

/** Creates the directory and takes its lock. Throws LockedError when another process serves it, UsageError when others may write there. */
export function lockDataDirectory(paths: DataPaths): KernelLock {
  makeDataDirectory(paths.directory)
  const lock = takeKernelLock(paths.lockFile)
  if (lock?.isAlone(paths.databaseFile)) {
    // It names a killed process.
    if (isOwnFile(paths.holderFile)) rmSync(paths.holderFile)
    return lock
  }
  lock?.release()
  const holder = readLibraryHolder(paths.holderFile)
  const whom = holder ? describeHolder(holder) : 'another process, which is starting or does not say how it is reached'
  throw new LockedError('library-locked', `The library in "${paths.directory}" is held by ${whom}`)
}

/** Returns whether any process holds the library of a directory now. */
export function isHeld(directory: string): boolean {
  return isKernelLockHeld(dataPaths(directory).lockFile)
}

/** Returns the process that serves the library of a directory; undefined when none does, or it does not say how it is reached. */
export function findHolder(directory: string): Holder | undefined {
  const holder = readLibraryHolder(dataPaths(directory).holderFile)
  // A killed process may have left the file, and another program may have its port now.
  return holder && isHeld(directory) ? holder : undefined
}

function makeDataDirectory(directory: string): void {
  try {
    makeOwnDirectory(directory)
    chmodSync(directory, 0o700)
  } catch (error) {
    if (!isOutOfReach(error)) throw error
    const text = `Cannot keep a library in "${directory}": ${messageOf(error)}; choose another directory`
    throw new OperatorError('store-unusable', text, { cause: error })
  }
}

/** Returns the trimmed text of a small file, or undefined when there is no such file; throws OperatorError for anything else. */
export function readTextFile(file: string): string | undefined {
  return readOwnFile(file, MAX_TEXT_BYTES)?.trim()
}

/** Replaces a small file (0600) in one step. */
export function writeTextFile(file: string, text: string): void {
  replaceFile(file, `${text}\n`)
}

/**
 * Returns the identifier of this instance. The first start creates it and writes it to the database and to a file beside it. Throws
 * OperatorError when the two differ, because then the database was lost or belongs to another instance.
 */
export function ensureInstanceId(paths: DataPaths, settings: Settings): string {
  const written = readTextFile(paths.instanceFile)
  const known = settings.read('instance-id')
  if (written !== undefined && written !== known) {
    const found = known === undefined ? 'it is empty' : 'it is one of another instance'
    throw new OperatorError(
      'library-damaged',
      `"${paths.databaseFile}" does not belong to "${paths.instanceFile}": ${found}`,
    )
  }
  const instanceId = known ?? randomUUID()
  if (known === undefined) settings.write('instance-id', instanceId)
  if (written === undefined) writeTextFile(paths.instanceFile, instanceId)
  return instanceId
}
