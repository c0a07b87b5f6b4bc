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

/** Returns the paths of all data of one library service. */
export function dataPaths(directory: string) {
  return {
    directory,
    lockFile: join(directory, 'lock'),
    /** Says how to reach the process that serves the library; exists only while one serves it. */
    holderFile: join(directory, 'holder'),
    databaseFile: join(directory, 'library.sqlite'),
    tokenFile: join(directory, 'token'),
    instanceFile: join(directory, 'instance'),
    contentDir: contentDirOf(join(directory, 'library.sqlite')),
    /** Holds pictures of videos; may be absent. */
    picturesDir: join(directory, 'pictures'),
    temporaryDir: join(directory, 'tmp'),
  }
}

/** Returns the path of the database in a directory; throws UsageError if there is none, because the directory was never served. */
export function existingDatabaseFile(directory: string): string {
  const { databaseFile } = dataPaths(directory)
  if (isOwnFile(databaseFile)) return databaseFile
  throw new UsageError('bad-usage', `There is no library in "${directory}" yet: run "shelfd serve" once`)
}

/** Creates the directories of contents and of unfinished uploads (0700), and removes the unfinished uploads of earlier processes. */
export function prepareDataDirectory(paths: DataPaths): void {
  rmSync(paths.temporaryDir, { recursive: true, force: true })
  for (const directory of [paths.contentDir, paths.temporaryDir]) mkdirSync(directory, { recursive: true, mode: 0o700 })
}

/** Creates the directory and locks it. Throws LockedError if another process serves it, UsageError if other users may write there. */
export function lockDataDirectory(paths: DataPaths): KernelLock {
  makeDataDirectory(paths.directory)
  const lock = takeKernelLock(paths.lockFile)
  if (lock?.isAlone(paths.databaseFile)) {
    // An existing holder file was left by a process that was killed.
    if (isOwnFile(paths.holderFile)) rmSync(paths.holderFile)
    return lock
  }
  lock?.release()
  const holder = readLibraryHolder(paths.holderFile)
  const whom = holder ? describeHolder(holder) : 'another process, which is starting or does not say how to reach it'
  throw new LockedError('library-locked', `The library in "${paths.directory}" is held by ${whom}`)
}

/** Returns whether any process holds the library of a directory now. */
export function isHeld(directory: string): boolean {
  return isKernelLockHeld(dataPaths(directory).lockFile)
}

/** Returns the process that serves the library of a directory; undefined if none does, or it does not say how to reach it. */
export function findHolder(directory: string): Holder | undefined {
  const holder = readLibraryHolder(dataPaths(directory).holderFile)
  // Checks the lock, because a killed process may have left the file, and another program may use its port now.
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

/** Returns the trimmed text of a small file, undefined if it does not exist; throws OperatorError if it cannot be trusted or read. */
export function readTextFile(file: string): string | undefined {
  return readOwnFile(file, MAX_TEXT_BYTES)?.trim()
}

/** Replaces a small file (0600) in one step. */
export function writeTextFile(file: string, text: string): void {
  replaceFile(file, `${text}\n`)
}

/**
 * Returns the identifier of this instance. The first start creates it and writes it to the database and to a file beside it. Throws
 * OperatorError if the database does not hold what the file says, because it was then lost or belongs to another instance.
 */
export function ensureInstanceId(paths: DataPaths, settings: Settings): string {
  const written = readTextFile(paths.instanceFile)
  const stored = settings.read('instance-id')
  if (written !== undefined && written !== stored) {
    const found = stored === undefined ? 'it is empty' : 'it belongs to another instance'
    throw new OperatorError(
      'library-damaged',
      `"${paths.databaseFile}" does not belong to "${paths.instanceFile}": ${found}`,
    )
  }
  const instanceId = stored ?? randomUUID()
  if (stored === undefined) settings.write('instance-id', instanceId)
  if (written === undefined) writeTextFile(paths.instanceFile, instanceId)
  return instanceId
}
