import type { AccessContext, LibrarySummary } from '../contract/records.ts'
import { RefusedError, TemporaryError, UsageError } from '../foundation/errors.ts'
import type { ContentRoot } from '../local/content-root.ts'
import { ownDirectoriesBelow } from '../rules/own-directories.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { Connection, Engine, MirrorSettings, OpenMirror } from './engine.ts'
import type { Pass } from './pass.ts'
import { assertSameService, identityOf } from './pinned-service.ts'

/** Stands for the identifier of a library that a dry run would make; real ones are never empty. */
export const NOT_YET_MADE = ''

/**
 * Finds the mirror's row, or pins it at first use: origin, tenant, library, remote path and the root's identity. Any
 * mismatch with what was pinned throws RefusedError (P15). A quiet run on the embedded library needs no request for it.
 */
export async function openMirror(
  engine: Engine,
  settings: MirrorSettings,
  root: ContentRoot,
  { runId, options }: Pick<Pass, 'runId' | 'options'>,
): Promise<OpenMirror> {
  const known = engine.store.mirrors.findByName(settings.name)
  if (known) assertSameMirror(known, settings, root)
  const ownDirectories = assertNotOwn(engine, root)
  const opened = { settings, rootRealPath: root.realPath, rootDevice: root.device, ownDirectories, runId }
  const isOwn = engine.service.isEmbedded && known?.library.origin === engine.service.identity
  if (known && isOwn) return { row: known, ...opened }
  const connection = await engine.service.connect(engine.signal)
  if (known) assertSameService(known, engine.service, connection.access)
  const row = known ?? (await pinMirror(engine, settings, root, connection, options.isDryRun))
  if (known) await assertLibraryThere(engine, known, settings, connection)
  return { row, ...opened }
}

function assertNotOwn({ ownDirectories }: Engine, { realPath }: ContentRoot): readonly string[] {
  const below = ownDirectoriesBelow(realPath, ownDirectories)
  if (below !== 'inside') return below
  throw new UsageError('bad-usage', `Cannot mirror "${realPath}": it holds the data of shelfd itself`)
}

function assertSameMirror(known: MirrorRow, settings: MirrorSettings, root: ContentRoot): void {
  const name = `The mirror "${settings.name}"`
  if (known.path !== root.realPath) {
    const text = `${name} was first used for "${known.path}" and is now to stand for "${root.realPath}"`
    throw new RefusedError('root-mismatch', `${text}; give the other directory a mirror of its own`)
  }
  if (known.rootInode !== root.inode) {
    const text = `"${root.realPath}" is not the directory that ${name.toLowerCase()} was first used for`
    throw new RefusedError('root-mismatch', `${text} (another one stands in its place, or a mount is missing)`)
  }
  if (known.remotePath !== settings.remotePath) {
    const text = `${name} was first used with ${known.remotePath} and is now to use ${settings.remotePath}`
    throw new RefusedError('library-mismatch', `${text}; give the other remote path a mirror of its own`)
  }
}

async function assertLibraryThere(
  engine: Engine,
  { name, library }: MirrorRow,
  settings: MirrorSettings,
  connection: Connection,
): Promise<void> {
  const found = await findLibrary(connection, library.remoteId, engine.signal)
  if (!found) {
    const text = `The mirror "${name}" belongs to the library "${library.name}" (${library.remoteId})`
    throw new RefusedError('library-mismatch', `${text}, which this credential does not show`)
  }
  if (settings.library !== found.id && settings.library !== found.name) {
    const text = `The mirror "${name}" belongs to the library "${found.name}" (${found.id})`
    throw new RefusedError('library-mismatch', `${text} and is now to use "${settings.library}"`)
  }
  if (found.name !== library.name) engine.store.write(() => engine.store.mirrors.renameLibrary(library.id, found.name))
}

async function pinMirror(
  engine: Engine,
  settings: MirrorSettings,
  root: ContentRoot,
  connection: Connection,
  isDryRun: boolean,
): Promise<MirrorRow> {
  const { store, clock, signal } = engine
  const library = await chooseLibrary(connection, settings, isDryRun, signal)
  assertMayUpload(library, connection.access, settings.name)
  store.write(() => {
    const tenantId = connection.access.tenant.id
    const pinned = { origin: identityOf(engine.service), tenantId, remoteId: library.id, name: library.name }
    const libraryId = store.mirrors.pinLibrary(pinned, clock.nowMs())
    const { name, remotePath } = settings
    const { realPath: path, device: rootDevice, inode: rootInode } = root
    store.mirrors.pinMirror({ name, path, libraryId, remotePath, rootDevice, rootInode }, clock.nowMs())
  })
  const row = store.mirrors.findByName(settings.name)
  if (!row) throw new Error(`The store lost the mirror "${settings.name}"`)
  return row
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
  const hint = 'see "shelfd libraries list", or make it with "shelfd libraries create"'
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

/** The library with this identifier, or the only one with this name; from the access context when it has it (4.1). */
async function findLibrary(
  { client, access }: Connection,
  wanted: string,
  signal: AbortSignal,
): Promise<LibrarySummary | undefined> {
  const near = pickLibrary(access.libraries, wanted)
  if (near) return near
  const all: LibrarySummary[] = []
  for await (const library of client.listLibraries(signal)) all.push(library)
  return pickLibrary(all, wanted)
}

function pickLibrary(libraries: readonly LibrarySummary[], wanted: string): LibrarySummary | undefined {
  const byId = libraries.find(({ id }) => id === wanted)
  if (byId) return byId
  const named = libraries.filter(({ name }) => name === wanted)
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(
      'unknown-library',
      `${named.length} libraries are named "${wanted}": give the identifier (${ids})`,
    )
  }
  return named[0]
}

function assertMayUpload(library: LibrarySummary, access: AccessContext, mirror: string): void {
  if (library.access.includes('resource.create') || access.abilities.includes('library.all.resource.create')) return
  const text = `Cannot mirror "${mirror}": the credential lacks the right resource.create on the library "${library.name}"`
  throw new RefusedError('right-missing', `${text}; "shelfd whoami" shows its rights`)
}
