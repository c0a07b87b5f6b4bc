import type { Fingerprint } from '../read/fingerprint.ts'

export interface ScannedFile {
  readonly name: string
  readonly fingerprint: Fingerprint
}

/** Files are packed and returned in portions of this size; a smaller directory is one portion. */
const PORTION = 4_096
const NUMBERS = 4

interface Packed {
  readonly names: readonly string[]
  readonly numbers: BigInt64Array
}

/**
 * The files of one directory in the order of a scan. The files of a large directory are packed, which takes a fifth of the memory,
 * and unpacked one portion at a time.
 */
export class ScannedFiles implements Iterable<ScannedFile> {
  readonly #packed: Packed[] = []
  #open: ScannedFile[] = []

  get length(): number {
    return this.#packed.length * PORTION + this.#open.length
  }

  push(file: ScannedFile): void {
    this.#open.push(file)
    if (this.#open.length < PORTION) return
    this.#packed.push(pack(this.#open))
    this.#open = []
  }

  *portions(): Generator<readonly ScannedFile[]> {
    for (const packed of this.#packed) yield unpack(packed)
    if (this.#open.length > 0) yield this.#open
  }

  *[Symbol.iterator](): Generator<ScannedFile> {
    for (const portion of this.portions()) yield* portion
  }

  *names(): Generator<string> {
    for (const { names } of this.#packed) yield* names
    for (const { name } of this.#open) yield name
  }
}

function pack(files: readonly ScannedFile[]): Packed {
  const numbers = new BigInt64Array(files.length * NUMBERS)
  files.forEach(({ fingerprint: { sizeBytes, mtimeNs, ctimeNs, inode } }, index) => {
    numbers.set([BigInt(sizeBytes), mtimeNs, ctimeNs, BigInt.asIntN(64, inode)], index * NUMBERS)
  })
  return { names: files.map(({ name }) => name), numbers }
}

function unpack({ names, numbers }: Packed): ScannedFile[] {
  return names.map((name, index) => {
    const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, inode = 0n] = numbers.subarray(index * NUMBERS)
    return { name, fingerprint: { sizeBytes: Number(size), mtimeNs, ctimeNs, inode: BigInt.asUintN(64, inode) } }
  })
}
