import { FileError } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { decodeText, READABLE_TEXT } from '../../foundation/text/decode-text.ts'
import { fileError } from '../read/file-errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import type { RootPlace } from '../read/open-and-recheck-root.ts'
import { openGuarded, readWhole } from '../read/open-guarded.ts'
import type { IgnoreScope } from './ignore-scope.ts'

const MAX_SIZE_BYTES = 1_048_576

/**
 * Returns the text of an ignore file, undefined without one. Throws FileError for an unreadable file, a link, more than 1 MiB or an unknown encoding, because
 * without its rules excluded files might be uploaded.
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

/** Also throws FileError when the file is gone, since an editor may be replacing it. */
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

/**
 * Goes from the root to a directory, with the rules in force in the directory that holds each path. `readRules` returns an ignore file of
 * a directory on the way.
 */
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
