import { isWithin } from '../foundation/paths.ts'

/** Directories that belong to the system as a whole. */
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
/** What lies in these is made by the kernel, and is no document. */
const KERNEL_DIRECTORY = /^\/(?:dev|proc|sys|run)(?:\/|$)/
const DRIVE = /^[A-Za-z]:[\\/]?$/

/** What a directory holds, when it is so much that nobody mirrors it by accident; undefined for any other. Real paths. */
export function describeBreadth(path: string, home: string): string | undefined {
  if (path === '/' || DRIVE.test(path)) return 'the whole system'
  if (path === home) return 'the whole home directory'
  if (isWithin(path, home)) return 'home directories'
  if (SYSTEM_DIRECTORIES.has(path) || KERNEL_DIRECTORY.test(path)) return 'a part of the system'
  return undefined
}
