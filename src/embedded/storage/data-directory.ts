import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LockedError, UsageError } from '../../foundation/errors.ts'
import { makeOwnDirectory } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'
import { type KernelLock, takeKernelLock } from '../../foundation/sqlite/kernel-lock.ts'
import { contentDirOf } from '../database/read-contents.ts'

/** The paths of one library service. */
export interface DataPaths {
  readonly directory: string
  readonly lockFile: string
  readonly databaseFile: string
  readonly tokenFile: string
  readonly instanceFile: string
  readonly contentDir: string
  /** Pictures of videos; may be absent. */
  readonly picturesDir: string
  readonly temporaryDir: string
}

export function dataPaths(directory: string): DataPaths {
  return {
    directory,
    lockFile: join(directory, 'lock'),
    databaseFile: join(directory, 'library.sqlite'),
    tokenFile: join(directory, 'token'),
    instanceFile: join(directory, 'instance'),
    contentDir: contentDirOf(join(directory, 'library.sqlite')),
    picturesDir: join(directory, 'pictures'),
    temporaryDir: join(directory, 'tmp'),
  }
}

/** The database of a directory that has been served before; throws UsageError when there is none. */
export function existingDatabaseFile(directory: string): string {
  const { databaseFile } = dataPaths(directory)
  if (existsSync(databaseFile)) return databaseFile
  throw new UsageError('bad-usage', `There is no library in "${directory}" yet: run "shelfd serve" once`)
}

/** Creates the directories of contents and unfinished uploads (0700); removes unfinished uploads of an earlier process. */
export function prepareDataDirectory(paths: DataPaths): void {
  rmSync(paths.temporaryDir, { recursive: true, force: true })
  for (const directory of [paths.contentDir, paths.temporaryDir]) mkdirSync(directory, { recursive: true, mode: 0o700 })
}

/** Creates the directory and takes its lock. Throws LockedError when another process serves it, UsageError when others may write there. */
export function lockDataDirectory(paths: DataPaths): KernelLock {
  makeOwnDirectory(paths.directory)
  chmodSync(paths.directory, 0o700)
  const lock = takeKernelLock(paths.lockFile)
  if (lock?.isAlone(paths.databaseFile)) return lock
  lock?.release()
  throw new LockedError('store-locked', `The library in "${paths.directory}" is served by another process`)
}

/** Returns the trimmed text of a small file, or undefined when there is no such file. */
export function readTextFile(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** Replaces a small file (0600) in one step. */
export function writeTextFile(file: string, text: string): void {
  replaceFile(file, `${text}\n`)
}
