import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { FileError, messageOf } from '../../foundation/errors.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'

/**
 * Writes a small file atomically, 0600; missing directories get 0700. Throws
 * FileError('io-error').
 */
export function writePrivateFile(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    replaceFile(file, text)
  } catch (error) {
    throw new FileError('io-error', `Cannot write "${file}": ${messageOf(error)}`)
  }
}
