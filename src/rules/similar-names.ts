interface UploadedFile {
  readonly name: string
  readonly mime: string
}

interface Entry {
  readonly title: string
  readonly slug: string
  readonly mime_type: string
}

/**
 * Ranks how likely an upload of this name created the entry: 0 for the same title, 1 for the same letters and digits, 2 if one begins
 * with the other, since services shorten and number names; undefined if it cannot have created it.
 */
export function rankCandidate(entry: Entry, upload: UploadedFile): 0 | 1 | 2 | undefined {
  if (entry.mime_type !== upload.mime) return undefined
  if (entry.title === upload.name) return 0
  const stem = nameKey(upload.name)
  const seen = keysOf(entry)
  if (seen.includes(stem)) return 1
  const isBeginning = (text: string) => text !== '' && stem !== '' && (text.startsWith(stem) || stem.startsWith(text))
  return seen.some(isBeginning) ? 2 : undefined
}

/** Bounds the candidates of rank 2, since each candidate is downloaded and compared. */
export const MAX_SIMILAR_NAMES = 8

/** Finds entries that may be one of many uploads, without comparing each pair. */
export class WantedUploads {
  readonly #index: NameIndex<UploadedFile>

  constructor(uploads: readonly UploadedFile[]) {
    this.#index = new NameIndex(uploads, ({ mime, name }) => ({ mime, keys: [nameKey(name)] }))
  }

  /** Returns whether `rankCandidate` ranks the entry for one of them. */
  mayInclude(entry: Entry): boolean {
    return keysOf(entry).some((key) => this.#index.find(entry.mime_type, key).length > 0)
  }
}

/** Finds candidates for uploads among the entries of a listing. */
export class ListedEntries<E extends Entry> {
  readonly #index: NameIndex<E>
  /** Entries that may still be candidates, with their positions in the listing. */
  readonly #remaining: Map<E, number>

  constructor(entries: readonly E[]) {
    this.#index = new NameIndex(entries, (entry) => ({ mime: entry.mime_type, keys: keysOf(entry) }))
    this.#remaining = new Map(entries.map((entry, position) => [entry, position]))
  }

  /** Returns all of rank 0, then of rank 1, then some of rank 2; each in the order of the listing. */
  candidates(upload: UploadedFile): E[] {
    const positionOf = (entry: E) => this.#remaining.get(entry) ?? -1
    const similar = new Set(
      this.#index.find(upload.mime, nameKey(upload.name)).filter((entry) => this.#remaining.has(entry)),
    )
    return rankCandidates(
      [...similar].sort((one, other) => positionOf(one) - positionOf(other)),
      upload,
    )
  }

  /** Call it for an entry that was found to be an upload: it is no candidate for another one. */
  remove(entry: E): void {
    this.#remaining.delete(entry)
  }
}

function rankCandidates<E extends Entry>(entries: readonly E[], upload: UploadedFile): E[] {
  const ranked = entries.map((entry) => ({ entry, rank: rankCandidate(entry, upload) }))
  const ofRank = (wanted: number) => ranked.flatMap(({ entry, rank }) => (rank === wanted ? [entry] : []))
  return [...ofRank(0), ...ofRank(1), ...ofRank(2).slice(0, MAX_SIMILAR_NAMES)]
}

/** Finds values of a MIME type that have a key equal to the one wanted, a longer key that begins with it, or a prefix of it. */
class NameIndex<T> {
  readonly #values: ReadonlyMap<string, readonly (readonly [key: string, value: T])[]>
  readonly #keys: readonly string[]

  constructor(
    values: readonly T[],
    namesOf: (value: T) => { readonly mime: string; readonly keys: readonly string[] },
  ) {
    const pairs = values.flatMap((value) => {
      const { mime, keys } = namesOf(value)
      return keys.map((key) => [`${mime}\n${key}`, value] as const)
    })
    this.#values = Map.groupBy(pairs, ([key]) => key)
    this.#keys = [...this.#values.keys()].sort()
  }

  find(mime: string, key: string): T[] {
    const whole = `${mime}\n${key}`
    const keys = [whole]
    // An empty key does not count as a prefix.
    if (key !== '') {
      for (let length = whole.length - 1; length > mime.length + 1; length -= 1) keys.push(whole.slice(0, length))
      for (let at = this.#firstAfter(whole); this.#keys[at]?.startsWith(whole); at += 1) keys.push(this.#keys[at] ?? '')
    }
    return keys.flatMap((each) => (this.#values.get(each) ?? []).map(([, value]) => value))
  }

  #firstAfter(key: string): number {
    let [low, high] = [0, this.#keys.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#keys[middle] ?? '') <= key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the keys of an entry. Names are similar if their keys are equal or one begins with the other. */
export function nameKeys({ title, filename }: { readonly title: string; readonly filename: string }): string[] {
  return [...new Set([reduce(stemOf(title)), reduce(title), reduce(stemOf(filename))])]
}

export function nameKey(name: string): string {
  return reduce(stemOf(name))
}

function keysOf({ title, slug }: Entry): string[] {
  return [reduce(stemOf(title)), reduce(title), reduce(slug)]
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function reduce(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
