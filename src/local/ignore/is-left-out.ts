import { FileError } from '../../foundation/errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import { placeOf, type RootPlace } from '../read/open-and-recheck-root.ts'
import { descend, readIgnoreFile } from './ignore-files.ts'
import { createRootScope, type ScanRules } from './ignore-scope.ts'

/**
 * Returns whether a scan leaves out a directory below the root, because of a rule or another file system; false where that is unreadable.
 */
export function isLeftOut(
  fs: FileSystem,
  root: string,
  rules: Pick<ScanRules, 'ignore' | 'include' | 'oneFileSystem' | 'gitignore'>,
  relativePath: string,
): boolean {
  const place = findPlace(fs, root)
  if (place === undefined) return false
  if (rules.oneFileSystem && isElsewhere(fs, place, relativePath)) return true
  const readRulesIn = (directory: string, fileName: string) => readRules(fs, place, directory, fileName)
  for (const { path, scope } of descend(relativePath, createRootScope(rules, root), readRulesIn))
    if (scope.decide(path, true)) return true
  return false
}

function findPlace(fs: FileSystem, realPath: string): RootPlace | undefined {
  try {
    return placeOf(fs, realPath)
  } catch {
    return undefined
  }
}

function isElsewhere(fs: FileSystem, { realPath, device }: RootPlace, relativePath: string): boolean {
  const below = findPlace(fs, `${realPath}/${relativePath}`)
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
