import type { AccessContext, DirectoryPage, LibrarySummary } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { AccessError, HeldBackError, isNotFound, TemporaryError, UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { numberOfNode } from '../../local/read/file-system.ts'
import type { RootDirectory } from '../../local/read/open-and-recheck-root.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { freeName, mayUpload } from '../../rules/mirror-activity.ts'
import { keepStoreCopy, type Store } from '../../store/open-store.ts'
import type { MirrorRow, PinnedRoot } from '../../store/tables/mirrors.ts'
import type { Connection, Engine, MirrorSettings } from '../engine.ts'
import { forgetPause } from '../operator/pause-mirrors.ts'
import type { PassOptions } from '../pass.ts'
import { identityOf } from './pinned-service.ts'

/** The identifier of a library that a dry run would create; real identifiers are never empty. */
export const NOT_CREATED = ''

/** Pins a mirror at its first use: finds or creates its library, and records its root. Renames another mirror that had its name. */
export async function pinMirror(
  engine: Engine,
  settings: MirrorSettings,
  root: RootDirectory,
  { connection, options }: { readonly connection: Connection; readonly options: PassOptions },
): Promise<MirrorRow> {
  const { store, clock, signal } = engine
  const library = await chooseLibrary(connection, settings, options.isDryRun, signal)
  assertMayUpload(library, connection.access, settings.name)
  const mayHoldForeign = library.id !== NOT_CREATED && !isOurs(engine, library, settings)
  // Other hosts of the fleet may have filled the directory; the ledger and a search find what they sent.
  const mayHoldOthers =
    mayHoldForeign &&
    engine.fleet !== undefined &&
    (await mayBeTaken(connection.client, library.id, settings.remotePath, signal))
  const adopts = mayHoldForeign && (options.adopts || mayHoldOthers)
  if (mayHoldForeign && !adopts) await assertUntouched(connection, library, settings, signal)
  store.write(() => {
    const tenantId = connection.access.tenant.id
    const pinned = { origin: identityOf(engine.service), tenantId, remoteId: library.id, name: library.name }
    const libraryId = store.mirrors.pinLibrary(pinned, clock.nowMs())
    const { name, remotePath, isAdHoc } = settings
    const namesake = store.mirrors.findByName(name)
    if (namesake) {
      // The pause was stored under this name for the other mirror.
      forgetPause(store, name)
      store.mirrors.rename(
        namesake.id,
        freeName(name, (other) => store.mirrors.findByName(other) !== undefined),
      )
    }
    const pinnedRoot = pinOf(root)
    store.mirrors.pinMirror({ name, libraryId, remotePath, ...pinnedRoot, isAdHoc }, clock.nowMs())
  })
  const row = store.mirrors.findByName(settings.name)
  if (row && adopts) store.write(() => store.foreign.requireSearch(row.id))
  if (!row) throw new Error(`The store lost the mirror "${settings.name}"`)
  return row
}

export function pinOf({ realPath, device, inode, birthNs, isBirthCertain, volume }: RootDirectory): PinnedRoot {
  return {
    path: realPath,
    rootDevice: numberOfNode(device),
    rootInode: numberOfNode(inode),
    rootBirthNs: isBirthCertain ? birthNs : null,
    rootVolumeId: volume.id,
    rootVolumeBytes: volume.sizeBytes,
  }
}

async function chooseLibrary(
  connection: Connection,
  settings: MirrorSettings,
  isDryRun: boolean,
  signal: AbortSignal,
): Promise<LibrarySummary> {
  const wanted = settings.library
  const found = await findLibrary(connection, wanted, signal)
  if (found) return found
  if (settings.mayCreateLibrary) {
    return isDryRun ? { id: NOT_CREATED, name: wanted, access: [] } : createLibrary(connection, wanted, signal)
  }
  const hint = wanted.includes(':')
    ? 'a path begins with "/", as in LIBRARY:/path'
    : `"shelfd libraries create ${shellWord(wanted)}" creates it`
  throw new UsageError('unknown-library', `Cannot mirror "${settings.name}": there is no library "${wanted}"; ${hint}`)
}

/** Lists the libraries after each attempt, since the request may have succeeded without an answer, or another mirror created it. */
async function createLibrary({ client }: Connection, name: string, signal: AbortSignal): Promise<LibrarySummary> {
  for (let attempt = 1; ; attempt += 1) {
    let failure: { readonly error: unknown } | undefined
    try {
      await client.createLibrary(name, null, signal)
    } catch (error) {
      signal.throwIfAborted()
      failure = { error }
    }
    for await (const library of client.listLibraries(signal)) if (library.name === name) return library
    if (failure && (!(failure.error instanceof TemporaryError) || attempt === 5)) throw failure.error
  }
}

/** Returns whether a mirror of this store has the directory, so that the store has receipts of what is in it. */
function isOurs({ store, service }: Engine, { id }: LibrarySummary, { remotePath }: MirrorSettings): boolean {
  const origin = identityOf(service)
  return store.mirrors.list().some((row) => {
    return row.library.remoteId === id && row.library.origin === origin && row.remotePath === remotePath
  })
}

/** Throws HeldBackError if the library already holds the directory, since a lost store or another machine filled it (P14, adoption). */
async function assertUntouched(
  { client }: Connection,
  { id, name }: LibrarySummary,
  settings: MirrorSettings,
  signal: AbortSignal,
): Promise<void> {
  const { remotePath } = settings
  if (!(await mayBeTaken(client, id, remotePath, signal))) return
  const text = `The mirror "${settings.name}" is new here, and the library "${name}" holds ${remotePath} already`
  const meaning = `"shelfd sync ${shellWord(settings.name)} --adopt" continues with what is there; it is not paid for again`
  throw new HeldBackError('confirmation-needed', `${text}; ${meaning}`)
}

/** Returns whether the library may hold earlier uploads. An empty directory suffices: the service may have moved its files. */
async function mayBeTaken(client: ServiceClient, library: string, path: string, signal: AbortSignal): Promise<boolean> {
  if (path !== '/') return (await readFirstPage(client, library, path, signal)) !== undefined
  const [root, inbox] = [
    await readFirstPage(client, library, path, signal),
    await readFirstPage(client, library, INBOX_PATH, signal),
  ]
  // A new library already has its inbox.
  const hasFolders = root?.folders.some(({ name }) => `/${name}` !== INBOX_PATH) ?? false
  return hasFolders || (root?.files.length ?? 0) > 0 || (inbox?.files.length ?? 0) > 0
}

async function readFirstPage(
  client: ServiceClient,
  library: string,
  path: string,
  signal: AbortSignal,
): Promise<DirectoryPage | undefined> {
  try {
    for await (const page of client.listDirectory(library, path, signal)) return page
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return undefined
}

function assertMayUpload(library: LibrarySummary, access: AccessContext, mirror: string): void {
  if (mayUpload(library, access)) return
  const text = `Cannot mirror "${mirror}": the credential lacks the right resource.create on the library "${library.name}"`
  throw new AccessError('right-missing', `${text}; "shelfd whoami" shows its rights`)
}

const MAX_LISTED_IDS = 10
const MAX_FOUND_NAMES = 1_000

interface LibrarySearch {
  readonly library: LibrarySummary | undefined
  /** Names that were listed, for suggestions. */
  readonly names: readonly string[]
}

/** Finds the library by identifier or unique name, first in the access context. Throws UsageError `unknown-library`. */
export async function findLibrary(
  { client, access }: Connection,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySummary | undefined> {
  return pickLibrary(access.libraries, idOrName) ?? (await searchLibraries(client, idOrName, signal)).library
}

export async function searchLibraries(
  client: Pick<ServiceClient, 'listLibraries'>,
  idOrName: string,
  signal: AbortSignal,
): Promise<LibrarySearch> {
  const candidates: LibrarySummary[] = []
  const names: string[] = []
  for await (const library of client.listLibraries(signal)) {
    if (library.id === idOrName || library.name === idOrName) candidates.push(library)
    if (names.length < MAX_FOUND_NAMES) names.push(library.name)
  }
  return { library: pickLibrary(candidates, idOrName), names }
}

function pickLibrary(libraries: readonly LibrarySummary[], idOrName: string): LibrarySummary | undefined {
  const byId = libraries.find(({ id }) => id === idOrName)
  if (byId) return byId
  const named = libraries.filter(({ name }) => name === idOrName)
  if (named.length > 1) throw new UsageError('unknown-library', ambiguous(idOrName, named))
  return named[0]
}

function ambiguous(name: string, libraries: readonly LibrarySummary[]): string {
  const ids = libraries.slice(0, MAX_LISTED_IDS).map(({ id }) => id)
  return `Cannot choose the library "${name}": ${libraries.length} have that name; use an identifier: ${ids.join(', ')}`
}

export function forgetMirror(store: Store, name: string, nowMs: number): string {
  const row = store.mirrors.findByName(name)
  if (!row) throw new UsageError('unknown-mirror', `Cannot forget the mirror "${name}": the store does not know it`)
  const copy = keepStoreCopy(store.directory, nowMs)
  store.write(() => {
    store.mirrors.forget({ id: row.id, libraryId: row.library.id })
    forgetPause(store, name)
  })
  return copy
}
