import { pathWithin } from '../../foundation/files/paths.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'

/** How many mirrors are named individually. */
const MOST_NAMES = 3

interface Library {
  /** Directory of its data. */
  readonly directory: string
  readonly home: string
}

/** Where the files of new mirrors go when no service is configured. */
export function describeDestination(mirrors: readonly string[], library: Library, isDryRun: boolean): string {
  const names = mirrors.map(escapeText)
  const [last = ''] = names.slice(-1)
  const who =
    names.length > MOST_NAMES
      ? counted(names.length, 'directory', 'directories')
      : [names.slice(0, -1).join(', '), last].filter((part) => part !== '').join(' and ')
  const goes = isDryRun ? 'would go' : names.length === 1 ? 'goes' : 'go'
  return `No service is configured: ${who} ${goes} into the library on this computer\n(${placeOf(library)}). Nothing leaves it.`
}

export function describeDiskUsage(sizeBytes: number, library: Library): string {
  return `The library takes ${formatSize(sizeBytes)} on this computer (${placeOf(library)}).`
}

/** What to try after a first sync; `query` is known to have results. */
export function describeNext(query: string | undefined, hasDaemon: boolean): string {
  const commands = [`search ${query === undefined ? 'WORDS' : `"${query}"`}`, 'report', hasDaemon ? 'status' : 'daemon']
  return `Next: ${commands.map((command) => `shelfd ${command}`).join(' · ')}`
}

/** The same for `npm start` of this project. `isOwnDirectory`: the user named a directory, not only the project's pages. */
export function describeNextInCheckout(query: string | undefined, isOwnDirectory: boolean): string {
  const search = `search ${query === undefined ? 'WORDS' : `"${query}"`}`
  return `Next: npm start -- ${search} · npm start -- ${isOwnDirectory ? 'dashboard' : 'DIR (a directory of yours)'}`
}

function placeOf({ directory, home }: Library): string {
  const inHome = pathWithin(home, directory)
  return escapeText(inHome ? `~/${inHome}` : directory)
}
