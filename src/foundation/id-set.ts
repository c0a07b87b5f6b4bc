/** A set of row ids, which are small and dense: each takes one bit, in a Set some 40 bytes. */
export class IdSet implements Iterable<number> {
  #bits = new Uint8Array(1_024)

  add(id: number): void {
    const at = Math.floor(id / 8)
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, at + 1)
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (id % 8))
  }

  has(id: number): boolean {
    return ((this.#bits[Math.floor(id / 8)] ?? 0) & (1 << (id % 8))) !== 0
  }

  *[Symbol.iterator](): Generator<number> {
    for (const [at, bits] of this.#bits.entries()) {
      for (let bit = 0; bits >> bit !== 0; bit += 1) if ((bits >> bit) & 1) yield at * 8 + bit
    }
  }
}

function grown(bits: Uint8Array<ArrayBuffer>, minLength: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(minLength, 2 * bits.length))
  larger.set(bits)
  return larger
}
