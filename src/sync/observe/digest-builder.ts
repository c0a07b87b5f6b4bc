import { type Fingerprint, sameFingerprint } from '../../local/read/fingerprint.ts'
import { type ScannedFile, ScannedFiles } from '../../local/scan/scanned-files.ts'
import { digestDirectory } from '../../rules/compare-directory.ts'
import type { ObservedFile } from './observation.ts'

/** Collects, portion by portion, whether all files of a directory were read, and builds the digest of the directory. */
export class DigestBuilder {
  readonly #listed: ScannedFiles
  /** Fingerprints at the time of hashing, of files that changed after the listing. */
  readonly #newer = new Map<string, Fingerprint>()
  #isWhole = true
  #hasRacy = false

  constructor(listed: ScannedFiles) {
    this.#listed = listed
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Adds the files of one portion that had to be read, and those of them that were. */
  add(unproven: readonly { readonly file: ScannedFile }[], observed: readonly ObservedFile[]): void {
    if (observed.length < unproven.length) this.#isWhole = false
    const listed = new Map(unproven.map(({ file }) => [file.name, file.fingerprint]))
    for (const file of observed) {
      const before = listed.get(file.name)
      if (file.isRacy) this.#hasRacy = true
      if (before === undefined || !sameFingerprint(before, file)) this.#newer.set(file.name, file)
    }
  }

  /** Returns null when the hash of a file was taken too soon after a change to prove the file unchanged later. */
  build(): Uint8Array | null {
    if (this.#hasRacy) return null
    return digestDirectory(this.#newer.size === 0 ? this.#listed : this.#asRead())
  }

  #asRead(): ScannedFiles {
    const read = new ScannedFiles(this.#listed.length)
    for (const { name, fingerprint } of this.#listed) {
      const { sizeBytes, inode, ...times } = this.#newer.get(name) ?? fingerprint
      read.push(name, { size: BigInt(sizeBytes), ino: inode, ...times })
    }
    return read
  }
}
