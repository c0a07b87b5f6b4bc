import { createHash, hash } from 'node:crypto'

/** Cheap evidence that a file has not changed: size, mtime, ctime, inode. */
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

/** A row of the store; `isRacy` is 1 when the hash was taken too soon after the newest time, else 0. */
type KnownRow = readonly [name: string, size: bigint, mtimeNs: bigint, ctimeNs: bigint, inode: bigint, isRacy: bigint]

interface DirectoryComparison<File extends FoundFile> {
  readonly unchangedCount: number
  /** Files to hash: unknown ones, and those that their fingerprint does not prove unchanged. */
  readonly unproven: readonly { readonly file: File; readonly isKnown: boolean }[]
  /** Known names that were not found. */
  readonly missing: readonly string[]
}

/**
 * Decides which files of one directory must be hashed. A file is unchanged when size, mtime, ctime and inode are equal
 * and its hash was not taken within two seconds of one of those times; every other file must be hashed.
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

/** Compares some of a directory's files and takes their rows out of `rows`; rows left at the end are missing. */
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

/** A second change within this span may leave the same times: the coarsest file systems count in two seconds. */
const RACY_WINDOW_NS = 2_000_000_000n

/**
 * True when the file may have changed after the hash at `hashedAtMs` without new times. Each time counts by itself: a later change
 * sets one of them to its own moment, which a date in the future is not, but which the other time may be.
 */
export function isRacyHash({ mtimeNs, ctimeNs }: FingerprintShape, hashedAtMs: number): boolean {
  const hashedAtNs = BigInt(Math.floor(hashedAtMs)) * 1_000_000n
  return isWithinWindow(hashedAtNs - mtimeNs) || isWithinWindow(hashedAtNs - ctimeNs)
}

function isWithinWindow(distanceNs: bigint): boolean {
  return distanceNs < RACY_WINDOW_NS && distanceNs > -RACY_WINDOW_NS
}

function provesUnchanged(fingerprint: FingerprintShape, row: KnownRow): boolean {
  return row[5] === 0n && looksUnchanged(fingerprint, row)
}

/** The same without proof: the file may have changed within two seconds before its hash was taken. */
export function looksUnchanged(fingerprint: FingerprintShape, row: KnownRow): boolean {
  return (
    fingerprint.mtimeNs === row[2] &&
    fingerprint.ctimeNs === row[3] &&
    fingerprint.inode === row[4] &&
    fingerprint.sizeBytes === Number(row[1])
  )
}

/** Numbers of a file: size, mtimeNs, ctimeNs, inode. */
export const NUMBERS = 4

/** The files of a directory, in a stable order; `numbers` has NUMBERS for each name, and may have room for more. */
export interface DirectoryDigestInput {
  readonly names: readonly string[]
  readonly numbers: BigInt64Array
}

const scratch = new Uint8Array(64 * 1024)
const text = Buffer.from(scratch.buffer)

/**
 * A SHA-256 over the names and fingerprints of a directory's files. Equal digests mean that every file is unchanged; comparing
 * digests takes a fraction of the time of comparing rows.
 */
export function digestDirectory({ names, numbers }: DirectoryDigestInput): Buffer {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, names.length * NUMBERS * numbers.BYTES_PER_ELEMENT)
  // Names contain no zero byte, so different listings give different bytes; the number of files separates names from numbers.
  const joined = `${names.length}\0${names.join('\0')}`
  // A character is at most 3 bytes. One call is cheaper than a hash object, and most directories are small.
  if (bytes.length + joined.length * 3 > scratch.length)
    return createHash('sha256').update(joined).update(bytes).digest()
  const end = text.write(joined)
  scratch.set(bytes, end)
  return hash('sha256', scratch.subarray(0, end + bytes.length), 'buffer')
}
