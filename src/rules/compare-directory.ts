import { createHash, hash } from 'node:crypto'

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

/** A file's row in the store. `isRacy` is 1 if the hash was taken too close to one of the file's times (isRacyHash). */
type StoredRow = readonly [name: string, size: bigint, mtimeNs: bigint, ctimeNs: bigint, inode: bigint, isRacy: bigint]

interface DirectoryComparison<File extends FoundFile> {
  readonly unchangedCount: number
  /** Files that the store lacks, and files whose fingerprint does not prove that they are unchanged. */
  readonly unproven: readonly { readonly file: File; readonly isInStore: boolean }[]
  readonly missing: readonly string[]
}

/** A file is unchanged if its fingerprint is equal, and its hash was not taken within two seconds of one of its times. */
export function compareDirectory<File extends FoundFile>(
  found: readonly File[],
  stored: readonly StoredRow[],
  hashEverything = false,
): DirectoryComparison<File> {
  const rows = rowsByName(stored)
  return { ...comparePortion(found, rows, hashEverything), missing: [...rows.keys()] }
}

export function rowsByName(stored: readonly StoredRow[]): Map<string, StoredRow> {
  return new Map(stored.map((row) => [row[0], row]))
}

/** Compares a part of a directory's files, and removes their rows from `rows`. Rows that remain after the last part are missing files. */
export function comparePortion<File extends FoundFile>(
  found: readonly File[],
  rows: Map<string, StoredRow>,
  hashEverything = false,
): Omit<DirectoryComparison<File>, 'missing'> {
  const unproven: { file: File; isInStore: boolean }[] = []
  for (const file of found) {
    const row = rows.get(file.name)
    rows.delete(file.name)
    if (!row || hashEverything || !provesUnchanged(file.fingerprint, row)) {
      unproven.push({ file, isInStore: row !== undefined })
    }
  }
  return { unchangedCount: found.length - unproven.length, unproven }
}

/** Two changes within this span may leave the same times, because some file systems, such as FAT, record them in steps of two seconds. */
const RACY_WINDOW_NS = 2_000_000_000n

/**
 * Returns whether the file may have changed after it was hashed at `hashedAtMs` (wall clock) without getting new times. Both times are
 * checked, since a change sets one of them to the moment of the change.
 */
export function isRacyHash({ mtimeNs, ctimeNs }: FingerprintShape, hashedAtMs: number): boolean {
  const hashedAtNs = BigInt(Math.floor(hashedAtMs)) * 1_000_000n
  return isWithinWindow(hashedAtNs - mtimeNs) || isWithinWindow(hashedAtNs - ctimeNs)
}

function isWithinWindow(distanceNs: bigint): boolean {
  return distanceNs < RACY_WINDOW_NS && distanceNs > -RACY_WINDOW_NS
}

function provesUnchanged(fingerprint: FingerprintShape, row: StoredRow): boolean {
  return row[5] === 0n && looksUnchanged(fingerprint, row)
}

/** Compares the fingerprint alone. If the hash is racy, the file may have changed all the same. */
export function looksUnchanged(fingerprint: FingerprintShape, row: StoredRow): boolean {
  return (
    fingerprint.mtimeNs === row[2] &&
    fingerprint.ctimeNs === row[3] &&
    fingerprint.inode === row[4] &&
    fingerprint.sizeBytes === Number(row[1])
  )
}

/** The numbers of a file in a digest: size, mtimeNs, ctimeNs, inode. */
export const NUMBERS_PER_FILE = 4

/** The files of a directory in a stable order; `numbers` has NUMBERS_PER_FILE for each name. */
export interface DirectoryDigestInput {
  readonly names: readonly string[]
  readonly numbers: BigInt64Array
}

const scratch = new Uint8Array(64 * 1024)
const text = Buffer.from(scratch.buffer)

/** Returns a SHA-256 of names and fingerprints. Comparing two digests is much faster than comparing the rows of their files. */
export function digestDirectory({ names, numbers }: DirectoryDigestInput): Buffer {
  const bytes = new Uint8Array(
    numbers.buffer,
    numbers.byteOffset,
    names.length * NUMBERS_PER_FILE * numbers.BYTES_PER_ELEMENT,
  )
  // The text is unambiguous: names contain no zero byte, and the number of files says where they end.
  const joined = `${names.length}\0${names.join('\0')}`
  // A UTF-16 unit takes at most 3 bytes. Most directories are small, and one call is cheaper than a hash object.
  if (bytes.length + joined.length * 3 > scratch.length)
    return createHash('sha256').update(joined).update(bytes).digest()
  const end = text.write(joined)
  scratch.set(bytes, end)
  return hash('sha256', scratch.subarray(0, end + bytes.length), 'buffer')
}
