import { type DirectoryDigestInput, NUMBERS } from '../../rules/compare-directory.ts'
import type { FileStats } from '../read/file-system.ts'
import type { Fingerprint } from '../read/fingerprint.ts'

export interface ScannedFile {
  readonly name: string
  readonly fingerprint: Fingerprint
}

/** Files are returned in portions of this size; a smaller directory is one portion. */
const PORTION = 4_096

/** The files of one directory in the order of a scan, as columns: most directories are unchanged, which their digest shows. */
export class ScannedFiles implements Iterable<ScannedFile>, DirectoryDigestInput {
  readonly names: string[] = []
  readonly numbers: BigUint64Array

  /** At most `most` files. */
  constructor(most: number) {
    this.numbers = new BigUint64Array(most * NUMBERS)
  }

  get length(): number {
    return this.names.length
  }

  push(name: string, { size, mtimeNs, ctimeNs, ino }: Pick<FileStats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino'>): void {
    const { numbers, names } = this
    const at = names.length * NUMBERS
    numbers[at] = size
    numbers[at + 1] = mtimeNs
    numbers[at + 2] = ctimeNs
    numbers[at + 3] = ino
    names.push(name)
  }

  *portions(): Generator<readonly ScannedFile[]> {
    for (let start = 0; start < this.length; start += PORTION) {
      yield this.names.slice(start, start + PORTION).map((name, index) => this.#fileAt(name, start + index))
    }
  }

  *[Symbol.iterator](): Generator<ScannedFile> {
    for (const portion of this.portions()) yield* portion
  }

  #fileAt(name: string, index: number): ScannedFile {
    const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, inode = 0n] = this.numbers.subarray(index * NUMBERS)
    const times = { mtimeNs: BigInt.asIntN(64, mtimeNs), ctimeNs: BigInt.asIntN(64, ctimeNs) }
    return { name, fingerprint: { sizeBytes: Number(size), ...times, inode } }
  }
}
