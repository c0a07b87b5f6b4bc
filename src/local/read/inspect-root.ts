import { constants } from 'node:fs'
import { messageOf, RootError, systemCodeOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import type { FileSystem } from './file-system.ts'
import { isDirectory } from './fingerprint.ts'

/** A mirror's directory and what tells it from any other that may stand in its place. */
export interface RootDirectory {
  readonly realPath: string
  readonly device: bigint
  readonly inode: bigint
  /** When the directory was made; null where the file system does not tell it. */
  readonly birthNs: bigint | null
  /** It is no stand-in: some systems give the time of the last change where they know no other. */
  readonly isBirthCertain: boolean
}

/** Looks at a mirror's directory; throws RootError `root-missing` or `root-unreadable`. */
export function inspectRoot(fs: FileSystem, path: string): RootDirectory {
  try {
    const realPath = fs.realpathSync(path)
    const stats = fs.lstatSync(realPath, { bigint: true })
    if (!isDirectory(stats)) throw rootError('root-missing', path, 'it is not a directory')
    fs.accessSync(realPath, constants.R_OK | constants.X_OK)
    const { dev: device, ino: inode, ctimeNs, birthtimeNs = 0n } = stats
    const birthNs = birthtimeNs !== 0n && keepsBirths(fs, realPath) ? birthtimeNs : null
    return { realPath, device, inode, birthNs, isBirthCertain: birthNs !== null && birthNs !== ctimeNs }
  } catch (error) {
    throw asRootError(error, path)
  }
}

/** By the type that Linux gives: ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs. */
const KEEPING_BIRTHS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
])

/** Others, such as exFAT, give the root of a disk the time at which it was mounted. */
function keepsBirths(fs: FileSystem, path: string): boolean {
  return process.platform === 'linux' && KEEPING_BIRTHS.has(fs.statfsSync?.(path).type ?? 0)
}

function asRootError(thrown: unknown, path: string): unknown {
  const code = systemCodeOf(thrown)
  if (code === undefined || thrown instanceof RootError) return thrown
  if (code === 'ENOENT' || code === 'ENOTDIR') return rootError('root-missing', path, 'it does not exist', thrown)
  const denied = code === 'EACCES' || code === 'EPERM'
  return rootError('root-unreadable', path, denied ? 'permission denied' : messageOf(thrown), thrown)
}

function rootError(code: RootError['code'], path: string, reason: string, cause?: unknown): RootError {
  return new RootError(code, `Cannot mirror the directory "${escapeText(path)}": ${reason}`, { cause })
}
