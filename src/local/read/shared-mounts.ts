import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Mount identifiers of file systems that another computer or a program serves, by mount point. */
export type SharedMounts = ReadonlyMap<string, string>

/** Calls on these may never return. Named as in `/proc/self/mountinfo`. */
const SHARED =
  /^(?:fuse(?:blk|\..+)?|nfs4?|cifs|smb3|smbfs|9p|virtiofs|afs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|panfs|gfs2|ocfs2|vboxsf|vmhgfs|prl_fs|autofs|davfs|ncpfs)$/

/** The upper of two mounts at a place counts. The root is left out, since everything lies on it. */
export function parseMounts(mountinfo: string): SharedMounts {
  const mounts = new Map<string, string>()
  for (const line of mountinfo.split('\n')) {
    const [id = '', , , , escaped = '', ...rest] = line.split(' ')
    const point = escaped.replaceAll(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
    mounts.delete(point)
    if (point !== '/' && SHARED.test(rest[rest.indexOf('-') + 1] ?? '')) mounts.set(point, id)
  }
  return mounts
}

/** None where the system does not list them. */
export function readMounts(): SharedMounts {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return new Map()
  }
}

export interface SharedPlace {
  /** The identifier of the mount. */
  readonly mount: string
  readonly point: string
  /** With the links before the mount resolved. */
  readonly path: string
}

/** Where a path enters a shared mount, without a call on it. */
export function findShared(path: string, mounts: SharedMounts): SharedPlace | undefined {
  if (mounts.size === 0) return undefined
  let at = ''
  let links = 0
  const names = namesOf(path)
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = dirname(at === '' ? '/' : at).replace(/\/$/, '')
      continue
    }
    const next = `${at}/${name}`
    const mount = mounts.get(next)
    if (mount !== undefined) return { mount, point: next, path: join(next, ...names) }
    const target = linkAt(next)
    if (target === undefined) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) return undefined
    names.unshift(...namesOf(target))
    if (target.startsWith('/')) at = ''
  }
  return undefined
}

/** The kernel's limit. */
const MAX_LINKS = 40

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}
