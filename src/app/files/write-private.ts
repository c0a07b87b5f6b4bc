import { dirname } from 'node:path'
import { FileError, messageOf } from '../../foundation/errors.ts'
import { makeDirectories } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'

/**
 * Writes a small file atomically, 0600; missing directories get 0700. Throws
 * FileError('io-error').
 */
export function writePrivateFile(file: string, text: string): void {
  try {
    makeDirectories(dirname(file))
    replaceFile(file, text)
  } catch (error) {
    throw new FileError('io-error', `Cannot write "${file}": ${messageOf(error)}`)
  }
}
