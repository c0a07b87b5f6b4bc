export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Another user who has access that only this user should have. */
export interface Intruder {
  /** `it belongs to user 1000`. */
  readonly why: string
  readonly fix: string
}

interface Judging {
  /** Other users who may own it; nobody by default. */
  readonly owners?: 'nobody' | 'root' | 'anyone'
  /** The sticky bit suffices: it prevents users from replacing the files of others. */
  readonly mayBeSticky?: boolean
  /** True for a directory whose contents must have the same owner. */
  readonly isTree?: boolean
}

const STICKY = 0o1000

export function ownUid(): number | undefined {
  return process.geteuid?.()
}

/** Undefined if no other user can change it, or the system has no such owners (Windows). */
export function findIntruder(
  path: string,
  found: Ownership,
  { owners, mayBeSticky, isTree }: Judging = {},
): Intruder | undefined {
  const own = ownUid()
  if (own === undefined) return undefined
  if (found.uid !== own && owners !== 'anyone' && !(owners === 'root' && found.uid === 0)) {
    const why = `it belongs to user ${found.uid}`
    // A chown to root would take the files from their owner.
    if (isTree && own === 0) return { why, fix: `sudo -u "#${found.uid}" shelfd …` }
    return { why, fix: `sudo chown ${isTree ? '-R ' : ''}${own} "${path}"` }
  }
  if (mayBeSticky && (found.mode & STICKY) !== 0) return undefined
  return isWritableByOthers(found)
    ? { why: `others can write it (mode ${octal(found)})`, fix: `chmod go-w "${path}"` }
    : undefined
}

/** Undefined if no other user can read it. */
export function findReader(path: string, found: Ownership, { isDirectory = false } = {}): Intruder | undefined {
  if (ownUid() === undefined || (found.mode & 0o077) === 0) return undefined
  return { why: `others can read it (mode ${octal(found)})`, fix: `chmod ${isDirectory ? 700 : 600} "${path}"` }
}

/** A group with the number of its user has no other member, and the umask of some systems lets it write. */
function isWritableByOthers({ uid, gid, mode }: Ownership): boolean {
  const isOwnGroup = gid === uid && uid !== 0
  return (mode & (isOwnGroup ? 0o002 : 0o022)) !== 0
}

function octal({ mode }: Ownership): string {
  return `0${(mode & 0o7777).toString(8)}`
}
