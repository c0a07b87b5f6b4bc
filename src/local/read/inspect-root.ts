import { constants } from 'node:fs'
import { messageOf, RootError, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { FileSystem } from './file-system.ts'
import { FILE_SYSTEMS } from './file-system-kinds.ts'
import { isDirectory } from './fingerprint.ts'

/** A mirror's directory, with what distinguishes it from another directory at the same path. */
export interface RootDirectory {
  readonly realPath: string
  readonly device: bigint
  readonly inode: bigint
  /** When the directory was created; null where the file system does not record it. */
  readonly birthNs: bigint | null
  /** False where `birthNs` may be the time of the last change, which some systems return in its place. */
  readonly isBirthCertain: boolean
}

/** Reads the identity of a mirror's directory; throws RootError `root-missing` or `root-unreadable`. */
export function inspectRoot(fs: FileSystem, path: string): RootDirectory {
  try {
    const realPath = fs.realpathSync(path)
    const stats = fs.lstatSync(realPath, { bigint: true })
    if (!isDirectory(stats))
      throw rootError('root-missing', path, 'it is not a directory; name the directory that holds it')
    fs.accessSync(realPath, constants.R_OK | constants.X_OK)
    const { dev: device, ino: inode, ctimeNs, birthtimeNs = 0n } = stats
    const birthNs = birthtimeNs !== 0n && recordsBirth(fs, realPath) ? birthtimeNs : null
    return { realPath, device, inode, birthNs, isBirthCertain: birthNs !== null && birthNs !== ctimeNs }
  } catch (error) {
    throw asRootError(error, path)
  }
}

function recordsBirth(fs: FileSystem, path: string): boolean {
  if (process.platform !== 'linux') return false
  const type = fs.statfsSync?.(path).type
  return type !== undefined && (FILE_SYSTEMS.get(type >>> 0)?.recordsBirth ?? false)
}

function asRootError(thrown: unknown, path: string): unknown {
  const code = systemCodeOf(thrown)
  if (code === undefined || thrown instanceof RootError) return thrown
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return rootError('root-missing', path, 'it does not exist; check the path, or mount its disk', thrown)
  const denied = code === 'EACCES' || code === 'EPERM'
  return rootError(
    'root-unreadable',
    path,
    denied ? 'permission denied; give this user the right to list it' : messageOf(thrown),
    thrown,
  )
}

function rootError(code: RootError['code'], path: string, reason: string, cause?: unknown): RootError {
  return new RootError(code, `Cannot mirror the directory "${escapeText(path)}": ${reason}`, { cause })
}
