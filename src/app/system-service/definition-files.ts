import { readFile, rm } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FileError, messageOf, systemCodeOf } from '../../foundation/errors.ts'
import { makeDirectories } from '../../foundation/files/private-directory.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'

const PACKAGE = new URL('../../../', import.meta.url)

export function ownCommand(): readonly string[] {
  const main = `../../main${extname(import.meta.url)}`
  return [process.execPath, fileURLToPath(new URL(main, import.meta.url))]
}

export function readTemplate(name: string): Promise<string> {
  return readFile(new URL(`service/${name}`, PACKAGE), 'utf8')
}

/** Writes a definition, readable for all users. Throws FileError('io-error'). */
export async function writeDefinition(file: string, content: string | Uint8Array): Promise<void> {
  try {
    makeDirectories(dirname(file))
    replaceFile(file, content, 0o644)
  } catch (error) {
    throw toFileError('write', file, error)
  }
}

export async function removeDefinition(file: string): Promise<boolean> {
  try {
    await rm(file)
    return true
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false
    throw toFileError('remove', file, error)
  }
}

function toFileError(verb: string, file: string, error: unknown): FileError {
  const isForbidden = ['EACCES', 'EPERM'].includes(systemCodeOf(error) ?? '')
  const reason = isForbidden ? 'permission denied; with --system, run it as root' : messageOf(error)
  return new FileError('io-error', `Cannot ${verb} "${file}": ${reason}`)
}
