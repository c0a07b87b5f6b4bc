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
import { mirrorsInParentheses, neverSynced } from './choose-stored.ts'
import { listRoster, sortByActivity } from './mirror-roster.ts'

interface MirrorPath {
  readonly row: MirrorRow
  readonly path: string
}

/** Returns what `findPath` finds; throws UsageError `unknown-mirror` if the word names nothing. */
export function choosePath(...input: Parameters<typeof findPath>): MirrorPath {
  const found = findPath(...input)
  if (found) return found
  const [, store, { word }] = input
  const storedMirrors = store?.mirrors.list() ?? []
  throw new UsageError(
    'unknown-mirror',
    `"${word}" lies in no mirror${mirrorsInParentheses(storedMirrors.map(({ path }) => path))}`,
  )
}

/**
 * Returns what an argument of get, why, failed or search names. It tries in this order: an existing path in a mirror; the name of a
 * mirror; a path within a mirror, or its last segments; a library path; a missing path below a mirror. Throws UsageError: `bad-usage`
 * if several match, `unknown-mirror` for a mirror that was never synced.
 */
export function findPath(
  settings: Settings,
  store: StoreReader | undefined,
  { word, cwd }: { readonly word: string; readonly cwd: string },
): MirrorPath | undefined {
  const roster = sortByActivity(listRoster(settings, store?.mirrors.list() ?? []))
  const rows = roster.flatMap(({ row }) => row ?? [])
  const absolute = resolve(cwd, word)
  // Only the directory is resolved. The last segment may not exist, or it may be a link, which is itself an entry of the mirror.
  const entryPath = resolve(realPathOf(cwd, dirname(absolute)), basename(absolute))
  const isInMirror = roster.some(({ row, path }) => isWithin(row?.path ?? realPathOf('/', path), entryPath))
  const path = isInMirror ? entryPath : realPathOf(cwd, word)
  const [inMirror] = pathsWithin(rows, path).toSorted((a, b) => b.row.path.length - a.row.path.length)
  const unsynced = roster.find(
    (entry) => !entry.row && (entry.name === word || isWithin(realPathOf('/', entry.path), path)),
  )
  const existsOnDisk = !isMissing(path)
  if (inMirror && (existsOnDisk || (store && isStored(store, inMirror)))) return inMirror
  if (unsynced && existsOnDisk) throw neverSynced(unsynced.name)
  const found = (store && (findByNameOrPath(store, rows, word) ?? findInLibrary(store, rows, word))) ?? inMirror
  if (!found && unsynced) throw neverSynced(unsynced.name)
  return found
}

function pathsWithin(rows: readonly MirrorRow[], absolute: string): MirrorPath[] {
  return rows.flatMap((row) => {
    const path = pathWithin(row.path, absolute)
    return path === undefined ? [] : [{ row, path }]
  })
}

function isStored({ directories, report, problems }: StoreReader, { row: { id }, path }: MirrorPath): boolean {
  return (
    path === '' ||
    directories.find(id, path) !== undefined ||
    report.listFilesBelow(id, path).length > 0 ||
    problems.find(id, path) !== undefined ||
    report.listHistory(id, path).length > 0 ||
    report.listGone(id, path).length > 0
  )
}

function findByNameOrPath(store: StoreReader, rows: readonly MirrorRow[], word: string): MirrorPath | undefined {
  const named = rows.find(({ name }) => name === word)
  if (named) return { row: named, path: '' }
  const relativePath = normalizeLibraryPath(`/${word}`)?.slice(1)
  if (!relativePath) return undefined
  const paths = rows.flatMap((row) => {
    const below = pathWithin(row.name, relativePath)
    return [{ row, path: relativePath }, ...(below === undefined ? [] : [{ row, path: below }])]
  })
  const stored = paths.filter((path) => isStored(store, path))
  if (stored.length > 0) return onlyPath(word, stored)
  const endings = rows.flatMap((row) => store.report.listNamed(row.id, relativePath).map((path) => ({ row, path })))
  if (endings.length > 0) return onlyPath(word, endings)
  // Ignored files are not in the store, so it also looks on the disk.
  return onlyPath(
    word,
    paths.filter(({ row, path }) => !isMissing(join(row.path, path))),
  )
}

function findInLibrary(store: StoreReader, rows: readonly MirrorRow[], word: string): MirrorPath | undefined {
  const colon = word.startsWith('/') ? -1 : word.indexOf(':/')
  const library = colon === -1 ? undefined : word.slice(0, colon)
  const remotePath = normalizeLibraryPath(word.slice(colon + 1))
  if (remotePath === undefined) return undefined
  const paths = rows.flatMap((row) => {
    const path = pathWithin(row.remotePath, remotePath)
    const isIn = library === undefined || row.library.name === library || row.library.remoteId === library
    return path === undefined || !isIn ? [] : [{ row, path }]
  })
  const stored = paths.filter((path) => isStored(store, path))
  if (stored.length > 0) return onlyPath(word, stored)
  return onlyPath(
    word,
    paths.flatMap((path) => listSimilarlyNamed(store, path)),
  )
}

/** Lists files whose names the service may have shortened to this one. */
function listSimilarlyNamed(store: StoreReader, { row, path }: MirrorPath): MirrorPath[] {
  const directory = parentOf(path)
  const keyOf = (name: string) => `${nameKey(name)}${extname(name).toLowerCase()}`
  const similar = store.report.listFiles(row.id, directory).filter(({ name }) => keyOf(name) === keyOf(nameOf(path)))
  return similar.map(({ name }) => ({ row, path: joinPath(directory, name) }))
}

const MAX_NAMED = 5

/** Returns undefined if nothing was found. The same path in two mirrors counts once; throws UsageError if several paths remain. */
function onlyPath(word: string, found: readonly MirrorPath[]): MirrorPath | undefined {
  const byPath = new Map(found.toReversed().map((each) => [join(each.row.path, each.path), each]))
  if (byPath.size < 2) return [...byPath.values()][0]
  const paths = [...byPath.keys()].toSorted()
  const more = paths.length > MAX_NAMED ? ' …' : ''
  const named = `give one of these paths: ${paths.slice(0, MAX_NAMED).map(shellWord).join(' ')}${more}`
  throw new UsageError(
    'bad-usage',
    `Cannot tell which "${word}" is meant: ${byPath.size} paths have that name; ${named}`,
  )
}
