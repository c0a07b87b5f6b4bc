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

/** `isRacy` is 1 when the hash was taken too soon after the newest time. */
type KnownRow = readonly [name: string, size: bigint, mtimeNs: bigint, ctimeNs: bigint, inode: bigint, isRacy: bigint]

interface DirectoryComparison<File extends FoundFile> {
  readonly unchangedCount: number
  /** Unknown files, and those whose fingerprint does not prove them unchanged. */
  readonly unproven: readonly { readonly file: File; readonly isKnown: boolean }[]
  readonly missing: readonly string[]
}

/**
 * A file is unchanged when its fingerprint is equal and its hash was not taken within two seconds of one of its times; every other file
 * must be hashed.
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

/** Takes the rows of these files out of `rows`; rows that remain are missing. */
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

/** A second change within this span may have the same times: some file systems count in two seconds. */
const RACY_WINDOW_NS = 2_000_000_000n

/**
 * The file may have changed after the hash at `hashedAtMs` without new times. Each time counts by itself, since a later change sets one
 * of them to its own moment.
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

/** Without proof: the file may have changed within two seconds before its hash. */
export function looksUnchanged(fingerprint: FingerprintShape, row: KnownRow): boolean {
  return (
    fingerprint.mtimeNs === row[2] &&
    fingerprint.ctimeNs === row[3] &&
    fingerprint.inode === row[4] &&
    fingerprint.sizeBytes === Number(row[1])
  )
}

/** Size, mtimeNs, ctimeNs, inode. */
export const NUMBERS = 4

/** In a stable order; `numbers` has NUMBERS for each name. */
export interface DirectoryDigestInput {
  readonly names: readonly string[]
  readonly numbers: BigInt64Array
}

const scratch = new Uint8Array(64 * 1024)
const text = Buffer.from(scratch.buffer)

/** A SHA-256 over names and fingerprints: equal digests mean that every file is unchanged, and are much faster to compare than rows. */
export function digestDirectory({ names, numbers }: DirectoryDigestInput): Buffer {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, names.length * NUMBERS * numbers.BYTES_PER_ELEMENT)
  // Names contain no zero byte, and the number of files separates names from numbers.
  const joined = `${names.length}\0${names.join('\0')}`
  // A character is at most 3 bytes. One call is cheaper than a hash object, and most directories are small.
  if (bytes.length + joined.length * 3 > scratch.length)
    return createHash('sha256').update(joined).update(bytes).digest()
  const end = text.write(joined)
  scratch.set(bytes, end)
  return hash('sha256', scratch.subarray(0, end + bytes.length), 'buffer')
}
