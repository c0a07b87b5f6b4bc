import type { ZipEntry } from './zip.ts'

export const ARCHIVE_LIMITS = {
  entries: 10_000,
  /** All files of the archive unpacked. */
  unpackedBytes: 1024 * 2 ** 20,
  /** What a parser unpacks and keeps as a tree, which takes some 30 times as much memory. */
  markupBytes: 16 * 2 ** 20,
} as const

const MARKUP = /\.(?:xml|rels|xhtml|html?|opf|ncx)$/i

/**
 * Throws when the archive is encrypted, or declares more than may be unpacked: some hundred kilobytes can hold gigabytes. Markup that
 * is read piece by piece (`isStreamed`) does not count as such.
 */
export function checkArchive(entries: readonly ZipEntry[], isStreamed = false): void {
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw passwordNeeded()
  const { entries: mostEntries, unpackedBytes, markupBytes } = ARCHIVE_LIMITS
  if (entries.length > mostEntries) throw tooLarge(`${entries.length} files`, `${mostEntries}`)
  const all = declaredBytes(entries)
  if (all > unpackedBytes) throw tooLarge(inMiB(all), inMiB(unpackedBytes))
  const markup = isStreamed ? 0 : declaredBytes(entries.filter(({ name }) => MARKUP.test(name)))
  if (markup > markupBytes) throw tooLarge(`${inMiB(markup)} of text`, inMiB(markupBytes))
}

export function passwordNeeded(): Error {
  return new Error('The document is encrypted: reading it takes its password')
}

function declaredBytes(entries: readonly ZipEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.declaredBytes, 0)
}

function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}

function tooLarge(what: string, most: string): Error {
  return new Error(`The document unpacks to ${what}; at most ${most} are read`)
}
