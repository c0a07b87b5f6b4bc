import { FileError } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { decodeText, READABLE_TEXT } from '../../foundation/text/decode-text.ts'
import { fileError } from '../read/file-errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import { placeOf, type RootPlace } from '../read/open-and-recheck-root.ts'
import { openGuarded, readWhole } from '../read/open-guarded.ts'
import { createRootScope, type IgnoreScope, type ScanRules } from './ignore-scope.ts'

const MAX_SIZE_BYTES = 1_048_576

/**
 * Returns the text of an ignore file; undefined if there is none. Throws FileError for a file that is unreadable, a link, larger than
 * 1 MiB or in an unknown encoding, because without its rules excluded files might be uploaded.
 */
export function readIgnoreFile(
  fs: FileSystem,
  root: RootPlace,
  relativeDirectory: string,
  fileName: string,
): string | undefined {
  const path = joinPath(relativeDirectory, fileName)
  try {
    using file = openGuarded(fs, root, path)
    if (file.fingerprint.sizeBytes > MAX_SIZE_BYTES) throw fileError('unsupported', path, 'it is larger than 1 MiB')
    const text = decodeText(readWhole(fs, file))
    if (text === undefined) throw fileError('unsupported', path, READABLE_TEXT)
    return text
  } catch (error) {
    if (error instanceof FileError && error.code === 'vanished') return undefined
    throw error
  }
}

/** Returns the text of an ignore file that was listed; if it is gone, throws FileError as well, since an editor may be replacing it. */
export function readListedIgnoreFile(
  fs: FileSystem,
  root: RootPlace,
  relativeDirectory: string,
  fileName: string,
): string {
  const text = readIgnoreFile(fs, root, relativeDirectory, fileName)
  if (text === undefined) throw fileError('vanished', joinPath(relativeDirectory, fileName), 'it is gone')
  return text
}

/** Yields the directories above `path` from the top down, then `path`, each with the rules that decide about it. */
export function* descend(
  path: string,
  rootScope: IgnoreScope,
  readRules: (directory: string, fileName: string) => string | undefined,
): Generator<{ readonly path: string; readonly scope: IgnoreScope }> {
  let scope = rootScope
  let directory = ''
  for (const name of path === '' ? [] : path.split('/')) {
    const entered = directory
    scope = scope.enter(entered, (fileName) => readRules(entered, fileName))
    directory = joinPath(directory, name)
    yield { path: directory, scope }
  }
}

/**
 * Returns whether a scan leaves out a directory below the root, because of a rule or because it is on another file system. A root or an
 * ignore file that cannot be read leaves out nothing.
 */
export function isLeftOut(
  fs: FileSystem,
  root: string,
  rules: Pick<ScanRules, 'ignore' | 'include' | 'oneFileSystem' | 'gitignore'>,
  relativePath: string,
): boolean {
  const place = tryPlaceOf(fs, root)
  if (place === undefined) return false
  if (rules.oneFileSystem && isOnOtherFileSystem(fs, place, relativePath)) return true
  const readRulesIn = (directory: string, fileName: string) => readRules(fs, place, directory, fileName)
  for (const { path, scope } of descend(relativePath, createRootScope(rules, root), readRulesIn))
    if (scope.decide(path, true)) return true
  return false
}

function tryPlaceOf(fs: FileSystem, realPath: string): RootPlace | undefined {
  try {
    return placeOf(fs, realPath)
  } catch {
    return undefined
  }
}

function isOnOtherFileSystem(fs: FileSystem, { realPath, device }: RootPlace, relativePath: string): boolean {
  const below = tryPlaceOf(fs, `${realPath}/${relativePath}`)
  return below !== undefined && below.device !== device
}

function readRules(fs: FileSystem, root: RootPlace, directory: string, fileName: string): string | undefined {
  try {
    return readIgnoreFile(fs, root, directory, fileName)
  } catch (error) {
    // The scan of the mirror reports an ignore file that cannot be read.
    if (error instanceof FileError) return undefined
    throw error
  }
}
