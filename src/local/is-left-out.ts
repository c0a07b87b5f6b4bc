import { FileError } from '../foundation/errors.ts'
import type { FileSystem } from './file-system.ts'
import { createIgnoreRules } from './ignore-rules.ts'
import { readIgnoreFile } from './read-ignore-file.ts'

/** A mirror's directory (real path) and its configured patterns. */
interface Tree {
  readonly root: string
  readonly ignore: readonly string[]
}

/** Whether the ignore rules leave out a directory below the root, as a scan does; false where that can't be told. */
export function isLeftOut(fs: FileSystem, { root, ignore }: Tree, relativePath: string): boolean {
  const names = relativePath.split('/')
  let scope = createIgnoreRules(ignore)
  for (let depth = 0; depth < names.length; depth += 1) {
    const directory = names.slice(0, depth).join('/')
    scope = scope.enter(directory, readRules(fs, root, directory))
    if (scope.decide(names.slice(0, depth + 1).join('/'), true)) return true
  }
  return false
}

function readRules(fs: FileSystem, root: string, directory: string): string | undefined {
  try {
    return readIgnoreFile(fs, root, directory)
  } catch (error) {
    // What its rules are shows when the mirror is scanned, which then stops.
    if (error instanceof FileError) return undefined
    throw error
  }
}
