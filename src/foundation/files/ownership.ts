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
  /** True if others may write to a directory with the sticky bit, because they cannot replace files of other users there. */
  readonly mayBeSticky?: boolean
  /** True for a directory whose contents must have the same owner. */
  readonly isTree?: boolean
}

const STICKY = 0o1000

export function ownUid(): number | undefined {
  return process.geteuid?.()
}

/** Returns undefined if no other user can change the file or directory, and on Windows, where owners have no numbers. */
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

/** Returns undefined if no other user can read the file or directory. */
export function findReader(path: string, found: Ownership, { isDirectory = false } = {}): Intruder | undefined {
  if (ownUid() === undefined || (found.mode & 0o077) === 0) return undefined
  return { why: `others can read it (mode ${octal(found)})`, fix: `chmod ${isDirectory ? 700 : 600} "${path}"` }
}

/** A group with the number of its user has no other member, so it may write, as the umask of some systems lets it. */
function isWritableByOthers({ uid, gid, mode }: Ownership): boolean {
  const isOwnGroup = gid === uid && uid !== 0
  return (mode & (isOwnGroup ? 0o002 : 0o022)) !== 0
}

function octal({ mode }: Ownership): string {
  return `0${(mode & 0o7777).toString(8)}`
}
