const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])

/** Elements that hold blocks: closing one closes every element inside it. */
const CONTAINERS = new Set(
  'html head body main article section aside nav header footer div form table thead tbody tr td th ul ol li dl dd'.split(
    ' ',
  ),
)

/**
 * Knows whether the current place in HTML lies in an element that a reader does not see. Counts open elements instead of listing
 * them, so that each tag costs the same at any depth.
 */
export class HiddenElements {
  readonly #containers = new Map<string, number>()
  readonly #inner = new Map<string, number>()
  #element = ''
  #depth = 0

  get isHidden(): boolean {
    return this.#depth > 0
  }

  /** True inside a drawing (SVG), whose elements may close themselves. */
  get isForeign(): boolean {
    return this.#element === 'svg'
  }

  open(name: string): void {
    if (this.#depth > 0) {
      if (name === this.#element) this.#depth += 1
      else if (CONTAINERS.has(name)) change(this.#inner, name, 1)
    } else if (HIDDEN.has(name)) {
      this.#element = name
      this.#depth = 1
    } else if (CONTAINERS.has(name)) {
      change(this.#containers, name, 1)
    }
  }

  close(name: string): void {
    if (this.#depth === 0) change(this.#containers, name, -1)
    else if (name === this.#element) this.#rise(this.#depth - 1)
    else if (this.#inner.has(name)) change(this.#inner, name, -1)
    else if (this.#containers.has(name)) {
      change(this.#containers, name, -1)
      this.#rise(0)
    }
  }

  #rise(depth: number): void {
    this.#depth = depth
    if (depth > 0) return
    this.#element = ''
    this.#inner.clear()
  }
}

function change(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
