import { isWithin } from '../../foundation/files/paths.ts'

/** Directories of the system. */
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set([
  ...[
    '/bin',
    '/boot',
    '/etc',
    '/home',
    '/lib',
    '/lib32',
    '/lib64',
    '/media',
    '/mnt',
    '/opt',
    '/root',
    '/sbin',
    '/srv',
    '/usr',
  ],
  ...['/var', '/tmp'],
  ...[
    '/Applications',
    '/Library',
    '/System',
    '/Users',
    '/Volumes',
    '/private',
    '/private/etc',
    '/private/tmp',
    '/private/var',
  ],
])
/** Directories whose files the kernel generates; none of these is a document. */
const KERNEL_DIRECTORY = /^\/(?:dev|proc|sys|run)(?:\/|$)/
const DRIVE = /^[A-Za-z]:[\\/]?$/

/** What a directory holds when it is too broad to mirror unconfirmed; undefined for any other. Takes real paths. */
export function describeBroadRoot(path: string, home: string): string | undefined {
  if (path === '/' || DRIVE.test(path)) return 'the whole system'
  if (path === home) return 'the whole home directory'
  if (isWithin(path, home)) return 'home directories'
  if (SYSTEM_DIRECTORIES.has(path) || KERNEL_DIRECTORY.test(path)) return 'a part of the system'
  return undefined
}
