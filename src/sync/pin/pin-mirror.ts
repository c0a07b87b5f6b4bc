import type { AccessContext, DirectoryPage, LibrarySummary } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { HeldBackError, RefusedError, RejectedError, TemporaryError, UsageError } from '../../foundation/errors.ts'
import type { RootDirectory } from '../../local/read/inspect-root.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { freeName } from '../../rules/mirror-activity.ts'
import type { MirrorRow } from '../../store/mirrors.ts'
import type { Connection, Engine, MirrorSettings } from '../engine.ts'
import type { PassOptions } from '../pass.ts'
import { forgetPause } from '../pause.ts'
import { findLibrary } from './find-library.ts'
import { identityOf } from './pinned-service.ts'

/** Stands for the identifier of a library that a dry run would make; real ones are never empty. */
export const NOT_YET_MADE = ''

/**
 * Pins a mirror at its first use: its library is found or made, and the root's identity noted. A mirror of this name that
 * gives it away (givesNameAway) gets another one.
 */
export async function pinMirror(
  engine: Engine,
  settings: MirrorSettings,
  root: RootDirectory,
  { connection, options }: { readonly connection: Connection; readonly options: PassOptions },
): Promise<MirrorRow> {
  const { store, clock, signal } = engine
  const library = await chooseLibrary(connection, settings, options.isDryRun, signal)
  assertMayUpload(library, connection.access, settings.name)
  const mayHoldUntracked = library.id !== NOT_YET_MADE && !isOurs(engine, library, settings)
  const adopts = mayHoldUntracked && options.adopts
  if (mayHoldUntracked && !adopts) await assertUntouched(connection, library, settings, signal)
  store.write(() => {
    const tenantId = connection.access.tenant.id
    const pinned = { origin: identityOf(engine.service), tenantId, remoteId: library.id, name: library.name }
    const libraryId = store.mirrors.pinLibrary(pinned, clock.nowMs())
    const { name, remotePath, isAdHoc } = settings
    const former = store.mirrors.findByName(name)
    if (former) {
      // What was said of the former one by its name does not hold for this one.
      forgetPause(store, name)
      store.mirrors.rename(
        former.id,
        freeName(name, (other) => store.mirrors.findByName(other) !== undefined),
      )
    }
    const pinnedRoot = pinOf(root)
    store.mirrors.pinMirror({ name, libraryId, remotePath, ...pinnedRoot, isAdHoc }, clock.nowMs())
  })
  const row = store.mirrors.findByName(settings.name)
  if (row && adopts) store.write(() => store.untracked.demandLook(row.id))
  if (!row) throw new Error(`The store lost the mirror "${settings.name}"`)
  return row
}

/** What tells a mirror's directory from any other, as it is pinned. */
export function pinOf({ realPath, device, inode, birthNs, isBirthCertain }: RootDirectory) {
  return { path: realPath, rootDevice: device, rootInode: inode, rootBirthNs: isBirthCertain ? birthNs : null }
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
    return isDryRun ? { id: NOT_YET_MADE, name: wanted, access: [] } : createLibrary(connection, wanted, signal)
  }
  const hint = '"shelfd libraries create" makes one'
  throw new UsageError('unknown-library', `Cannot mirror "${settings.name}": there is no library "${wanted}"; ${hint}`)
}

/** After a lost answer the library may be there all the same: look before asking again. */
async function createLibrary({ client }: Connection, name: string, signal: AbortSignal): Promise<LibrarySummary> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.createLibrary(name, null, signal)
    } catch (error) {
      if (!(error instanceof TemporaryError) || attempt === 5) throw error
    }
    for await (const library of client.listLibraries(signal)) if (library.name === name) return library
  }
}

/** Another mirror of this store stands for the same directory of the library: what is in it is known. */
function isOurs({ store, service }: Engine, { id }: LibrarySummary, { remotePath }: MirrorSettings): boolean {
  const origin = identityOf(service)
  return store.mirrors.list().some((row) => {
    return row.library.remoteId === id && row.library.origin === origin && row.remotePath === remotePath
  })
}

/** A store that is new beside a library that holds our directory was lost, or is another machine's: better ask (P14). */
async function assertUntouched(
  { client }: Connection,
  { id, name }: LibrarySummary,
  settings: MirrorSettings,
  signal: AbortSignal,
): Promise<void> {
  const { remotePath } = settings
  if (!(await mayBeTaken(client, id, remotePath, signal))) return
  const text = `The mirror "${settings.name}" is new here, and the library "${name}" holds ${remotePath} already`
  const meaning = `"shelfd sync ${settings.name} --adopt" continues with what is there, which is not paid for again`
  throw new HeldBackError('confirmation-needed', `${text}; ${meaning}`)
}

/**
 * Whether something of ours may be there. A directory that exists says so by itself: the files of a flat one may lie in the
 * inbox, or wherever the service has moved them.
 */
async function mayBeTaken(client: ServiceClient, library: string, path: string, signal: AbortSignal): Promise<boolean> {
  if (path !== '/') return (await readFirstPage(client, library, path, signal)) !== undefined
  const [root, inbox] = [
    await readFirstPage(client, library, path, signal),
    await readFirstPage(client, library, INBOX_PATH, signal),
  ]
  // A library of its own has its inbox from the start.
  const hasFolders = root?.folders.some(({ name }) => `/${name}` !== INBOX_PATH) ?? false
  return hasFolders || (root?.files.length ?? 0) > 0 || (inbox?.files.length ?? 0) > 0
}

/** Undefined when there is no such directory. */
async function readFirstPage(
  client: ServiceClient,
  library: string,
  path: string,
  signal: AbortSignal,
): Promise<DirectoryPage | undefined> {
  try {
    for await (const page of client.listDirectory(library, path, signal)) return page
  } catch (error) {
    if (!(error instanceof RejectedError && error.status === 404)) throw error
  }
  return undefined
}

function assertMayUpload(library: LibrarySummary, access: AccessContext, mirror: string): void {
  if (library.access.includes('resource.create') || access.abilities.includes('library.all.resource.create')) return
  const text = `Cannot mirror "${mirror}": the credential lacks the right resource.create on the library "${library.name}"`
  throw new RefusedError('right-missing', `${text}; "shelfd whoami" shows its rights`)
}
