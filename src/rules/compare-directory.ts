/** The cheap hint that nothing changed: size, modification and change time, inode. */
interface FingerprintShape {
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
}

interface FoundFile {
  readonly name: string
  readonly fingerprint: FingerprintShape
}

/** A row of the store: name, size, mtime, ctime, inode, whether it was hashed too soon after its newest time. */
type KnownRow = readonly [name: string, size: bigint, mtimeNs: bigint, ctimeNs: bigint, inode: bigint, isRacy: bigint]

export interface DirectoryComparison<File extends FoundFile> {
  readonly unchangedCount: number
  /** Files to be hashed: not known, or their fingerprint proves nothing. */
  readonly unproven: readonly { readonly file: File; readonly isKnown: boolean }[]
  /** Names that are known and were not found. */
  readonly missing: readonly string[]
}

/**
 * Which files of one directory must be read again. Unchanged means that size, mtime, ctime and inode are equal and that
 * the hash was taken at least two seconds after the newest of those times; anything else is hashed.
 */
export function compareDirectory<File extends FoundFile>(
  found: readonly File[],
  known: readonly KnownRow[],
  hashEverything = false,
): DirectoryComparison<File> {
  const rows = knownByName(known)
  return { ...comparePortion(found, rows, hashEverything), missing: [...rows.keys()] }
}

export function knownByName(known: readonly KnownRow[]): Map<string, KnownRow> {
  return new Map(known.map((row) => [row[0], row]))
}

/** The same for some of a directory's files, whose rows are taken out of `rows`: what is left at the end is missing. */
export function comparePortion<File extends FoundFile>(
  found: readonly File[],
  rows: Map<string, KnownRow>,
  hashEverything = false,
): Omit<DirectoryComparison<File>, 'missing'> {
  const unproven: { file: File; isKnown: boolean }[] = []
  for (const file of found) {
    const row = rows.get(file.name)
    rows.delete(file.name)
    if (!row || hashEverything || !provesUnchanged(file.fingerprint, row)) {
      unproven.push({ file, isKnown: row !== undefined })
    }
  }
  return { unchangedCount: found.length - unproven.length, unproven }
}

/** Within this span after a change, a second change may leave the same times: two seconds, the coarsest of file systems. */
const RACY_WINDOW_NS = 2_000_000_000n

/** True when a hash taken at `hashedAtMs` can't vouch for the file's times. */
export function isRacyHash(fingerprint: FingerprintShape, hashedAtMs: number): boolean {
  const { mtimeNs, ctimeNs } = fingerprint
  const newestNs = mtimeNs > ctimeNs ? mtimeNs : ctimeNs
  return BigInt(Math.floor(hashedAtMs)) * 1_000_000n - newestNs < RACY_WINDOW_NS
}

function provesUnchanged(fingerprint: FingerprintShape, row: KnownRow): boolean {
  return (
    row[5] === 0n &&
    fingerprint.mtimeNs === row[2] &&
    fingerprint.ctimeNs === row[3] &&
    fingerprint.inode === row[4] &&
    fingerprint.sizeBytes === Number(row[1])
  )
}
