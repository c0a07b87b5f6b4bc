/** Who can change a file or a directory, as `fs.Stats` tells it. */
export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Somebody who can change what only this user should. */
export interface Intruder {
  /** `it belongs to user 1000`. */
  readonly why: string
  /** The command that mends it. */
  readonly mend: string
}

interface Judging {
  /** Who may own it beside this user; nobody by default. */
  readonly owners?: 'nobody' | 'root' | 'anyone'
  /** In a directory with the sticky bit nobody can replace the files of others. */
  readonly mayBeSticky?: boolean
  /** What is in it belongs to it. */
  readonly isTree?: boolean
}

const STICKY = 0o1000

/** The user this process acts as; undefined where users have no numbers (Windows). */
export function ownUid(): number | undefined {
  return process.geteuid?.()
}

/** Who else can change what lies at `path`; undefined when nobody can, and where the system has no such owners (Windows). */
export function findIntruder(
  path: string,
  found: Ownership,
  { owners, mayBeSticky, isTree }: Judging = {},
): Intruder | undefined {
  const own = ownUid()
  if (own === undefined) return undefined
  if (found.uid !== own && owners !== 'anyone' && !(owners === 'root' && found.uid === 0)) {
    const why = `it belongs to user ${found.uid}`
    // Whoever keeps something there would lose it to root.
    if (isTree && own === 0) return { why, mend: `sudo -u "#${found.uid}" shelfd …` }
    return { why, mend: `sudo chown ${isTree ? '-R ' : ''}${own} "${path}"` }
  }
  if (mayBeSticky && (found.mode & STICKY) !== 0) return undefined
  return isWritableByOthers(found)
    ? { why: `others can write it (mode ${octal(found)})`, mend: `chmod go-w "${path}"` }
    : undefined
}

/** Whether others can read it, and then how to keep them from it. */
export function findReader(path: string, found: Ownership): Intruder | undefined {
  if (ownUid() === undefined || (found.mode & 0o077) === 0) return undefined
  return { why: `others can read it (mode ${octal(found)})`, mend: `chmod 600 "${path}"` }
}

/** The group that has the number of its user has nobody else in it: the umask of some systems lets it write. */
function isWritableByOthers({ uid, gid, mode }: Ownership): boolean {
  const isOwnGroup = gid === uid && uid !== 0
  return (mode & (isOwnGroup ? 0o002 : 0o022)) !== 0
}

function octal({ mode }: Ownership): string {
  return `0${(mode & 0o7777).toString(8)}`
}
