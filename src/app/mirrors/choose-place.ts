import { basename, dirname, extname, join, resolve } from 'node:path'
import { normalizeLibraryPath } from '../../contract/library-path.ts'
import { UsageError } from '../../foundation/errors.ts'
import { isWithin, joinPath, nameOf, parentOf, pathWithin } from '../../foundation/files/paths.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { nameKey } from '../../rules/similar-names.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { isMissing, realPathOf } from '../files/paths-on-disk.ts'
import type { Settings } from '../settings/settings.ts'
import { describeKnown, neverSynced } from './choose-known.ts'
import { byActivity, listRoster } from './mirror-roster.ts'

/** Chooses the file or directory that a word names: for get, why, failed and search. */

interface Place {
  readonly row: MirrorRow
  readonly path: string
}

/** Like `findPlace`; throws UsageError `unknown-mirror` where the word names nothing. */
export function choosePlace(...input: Parameters<typeof findPlace>): Place {
  const place = findPlace(...input)
  if (place) return place
  const [, store, { word }] = input
  const known = store?.mirrors.list() ?? []
  throw new UsageError('unknown-mirror', `"${word}" lies in no mirror${describeKnown(known.map(({ path }) => path))}`)
}

/**
 * Returns what a word names, in this order: a path on disk in a mirror; a mirror; a path within a mirror, or the end of one; a library
 * path; a path in a mirror that does not exist. Throws UsageError: `bad-usage` if several match, `unknown-mirror` for a mirror that was
 * never synced.
 */
export function findPlace(
  settings: Settings,
  store: StoreReader | undefined,
  { word, cwd }: { readonly word: string; readonly cwd: string },
): Place | undefined {
  const roster = byActivity(listRoster(settings, store?.mirrors.list() ?? []))
  const rows = roster.flatMap(({ row }) => row ?? [])
  const absolute = resolve(cwd, word)
  // Only the directory is resolved. The last segment may not exist, or it may be a link, which is itself an entry of the mirror.
  const entryPath = resolve(realPathOf(cwd, dirname(absolute)), basename(absolute))
  const isInMirror = roster.some(({ row, path }) => isWithin(row?.path ?? realPathOf('/', path), entryPath))
  const path = isInMirror ? entryPath : realPathOf(cwd, word)
  const [inMirror] = placesBelow(rows, path).toSorted((a, b) => b.row.path.length - a.row.path.length)
  const unsynced = roster.find(
    (entry) => !entry.row && (entry.name === word || isWithin(realPathOf('/', entry.path), path)),
  )
  const existsOnDisk = !isMissing(path)
  if (inMirror && (existsOnDisk || (store && isKnown(store, inMirror)))) return inMirror
  if (unsynced && existsOnDisk) throw neverSynced(unsynced.name)
  const place = (store && (findByNameOrPath(store, rows, word) ?? findInLibrary(store, rows, word))) ?? inMirror
  if (!place && unsynced) throw neverSynced(unsynced.name)
  return place
}

function placesBelow(rows: readonly MirrorRow[], absolute: string): Place[] {
  return rows.flatMap((row) => {
    const path = pathWithin(row.path, absolute)
    return path === undefined ? [] : [{ row, path }]
  })
}

function isKnown({ directories, report, problems }: StoreReader, { row: { id }, path }: Place): boolean {
  return (
    path === '' ||
    directories.find(id, path) !== undefined ||
    report.listFilesBelow(id, path).length > 0 ||
    problems.find(id, path) !== undefined ||
    report.listHistory(id, path).length > 0 ||
    report.listGone(id, path).length > 0
  )
}

function findByNameOrPath(store: StoreReader, rows: readonly MirrorRow[], word: string): Place | undefined {
  const named = rows.find(({ name }) => name === word)
  if (named) return { row: named, path: '' }
  const relativePath = normalizeLibraryPath(`/${word}`)?.slice(1)
  if (!relativePath) return undefined
  const places = rows.flatMap((row) => {
    const below = pathWithin(row.name, relativePath)
    return [{ row, path: relativePath }, ...(below === undefined ? [] : [{ row, path: below }])]
  })
  const known = places.filter((place) => isKnown(store, place))
  if (known.length > 0) return onlyPlace(word, known)
  const endings = rows.flatMap((row) => store.report.listNamed(row.id, relativePath).map((path) => ({ row, path })))
  if (endings.length > 0) return onlyPlace(word, endings)
  // Ignored files are not in the store, so the disk is asked.
  return onlyPlace(
    word,
    places.filter(({ row, path }) => !isMissing(join(row.path, path))),
  )
}

function findInLibrary(store: StoreReader, rows: readonly MirrorRow[], word: string): Place | undefined {
  const colon = word.startsWith('/') ? -1 : word.indexOf(':/')
  const library = colon === -1 ? undefined : word.slice(0, colon)
  const remotePath = normalizeLibraryPath(word.slice(colon + 1))
  if (remotePath === undefined) return undefined
  const places = rows.flatMap((row) => {
    const path = pathWithin(row.remotePath, remotePath)
    const isIn = library === undefined || row.library.name === library || row.library.remoteId === library
    return path === undefined || !isIn ? [] : [{ row, path }]
  })
  const known = places.filter((place) => isKnown(store, place))
  if (known.length > 0) return onlyPlace(word, known)
  return onlyPlace(
    word,
    places.flatMap((place) => listSimilarlyNamed(store, place)),
  )
}

/** Files whose names the service may have shortened to this one. */
function listSimilarlyNamed(store: StoreReader, { row, path }: Place): Place[] {
  const directory = parentOf(path)
  const keyOf = (name: string) => `${nameKey(name)}${extname(name).toLowerCase()}`
  const similar = store.report.listFiles(row.id, directory).filter(({ name }) => keyOf(name) === keyOf(nameOf(path)))
  return similar.map(({ name }) => ({ row, path: joinPath(directory, name) }))
}

const MAX_NAMED = 5

/** Two mirrors of one directory count once. Throws UsageError if several files or directories remain. */
function onlyPlace(word: string, places: readonly Place[]): Place | undefined {
  const byPath = new Map(places.toReversed().map((place) => [join(place.row.path, place.path), place]))
  if (byPath.size < 2) return [...byPath.values()][0]
  const paths = [...byPath.keys()].toSorted()
  const more = paths.length > MAX_NAMED ? ' …' : ''
  const named = `give one of these paths: ${paths.slice(0, MAX_NAMED).map(shellWord).join(' ')}${more}`
  throw new UsageError(
    'bad-usage',
    `Cannot tell which "${word}" is meant: ${byPath.size} paths have that name; ${named}`,
  )
}
