import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The mount points of file systems that another computer or a program serves, with the identifiers of these mounts. */
export type SharedMounts = ReadonlyMap<string, string>

/** A call on one of these returns only when its server answers, so perhaps never. Their names as in `/proc/self/mountinfo`. */
const SHARED =
  /^(?:fuse(?:blk|\..+)?|nfs4?|cifs|smb3|smbfs|9p|virtiofs|afs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|panfs|gfs2|ocfs2|vboxsf|vmhgfs|prl_fs|autofs|davfs|ncpfs)$/

/** Reads `/proc/self/mountinfo`; where one mount covers another, the upper one counts. The root is left out: everything lies on it. */
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

/** Returns the shared mounts of this machine; none where the system does not list them. */
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
  /** The path with the links before the mount resolved. */
  readonly path: string
}

/** Returns where an absolute path enters a shared mount, found without a call on that; undefined if it does not. */
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
    if (links > MOST_LINKS) return undefined
    names.unshift(...namesOf(target))
    if (target.startsWith('/')) at = ''
  }
  return undefined
}

/** As many as the kernel follows. */
const MOST_LINKS = 40

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
