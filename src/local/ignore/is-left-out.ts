import { FileError } from '../../foundation/errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import { descend } from './descend.ts'
import { createRootScope } from './ignore-scope.ts'
import { readIgnoreFile } from './read-ignore-file.ts'

/** A mirror's directory: its real path and its settings. */
interface Tree {
  readonly root: string
  readonly ignore: readonly string[]
  readonly oneFileSystem: boolean
}

/**
 * Whether a scan of the mirror leaves out a directory below the root: because a rule ignores it, or because it lies on another file
 * system. Returns false where that cannot be read.
 */
export function isLeftOut(fs: FileSystem, { root, ignore, oneFileSystem }: Tree, relativePath: string): boolean {
  if (oneFileSystem && isElsewhere(fs, root, relativePath)) return true
  const readRulesIn = (directory: string) => readRules(fs, root, directory)
  for (const { path, scope } of descend(relativePath, createRootScope(ignore), readRulesIn)) {
    if (scope.decide(path, true)) return true
  }
  return false
}

function isElsewhere(fs: FileSystem, root: string, relativePath: string): boolean {
  try {
    const [above, below] = [root, `${root}/${relativePath}`].map((path) => fs.lstatSync(path, { bigint: true }).dev)
    return above !== below
  } catch {
    return false
  }
}

function readRules(fs: FileSystem, root: string, directory: string): string | undefined {
  try {
    return readIgnoreFile(fs, root, directory)
  } catch (error) {
    // The scan of the mirror reports a `.shelfdignore` that cannot be read.
    if (error instanceof FileError) return undefined
    throw error
  }
}
