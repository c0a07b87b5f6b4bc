import { AccessError, HeldBackError, UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { numberOfNode } from '../../local/read/file-system.ts'
import type { OpenRoot, RootDirectory } from '../../local/read/open-and-recheck-root.ts'
import { mayBeSameVolume, ownDirectoriesBelow } from '../../rules/broad-and-overlapping-roots.ts'
import { isNameReleased } from '../../rules/mirror-activity.ts'
import type { MirrorRow, PinnedRoot } from '../../store/tables/mirrors.ts'
import type { Connection, Engine, MirrorSettings, OpenMirror } from '../engine.ts'
import type { Pass, PassOptions } from '../pass.ts'
import { findLibrary, pinMirror, pinOf } from './pin-mirror.ts'
import { assertSameService, originMismatch } from './pinned-service.ts'

/** Opens a mirror: pins it at its first use, and otherwise throws if it differs from what was pinned. */
export async function openMirror(
  engine: Engine,
  settings: MirrorSettings,
  root: OpenRoot,
  { runId, options }: Pick<Pass, 'runId' | 'options'>,
): Promise<OpenMirror> {
  const pinned = findPinned(engine, settings)
  if (pinned && pinned.library.origin !== engine.service.identity) throw originMismatch(pinned, engine.service)
  if (pinned && !options.acceptsRoot) assertSameRoot(pinned, root)
  if (pinned) assertSamePlace(pinned, settings)
  const stored = pinned && { ...pinned, ...pinnedRootOf(pinned, root, options) }
  const ownDirectories = assertNotOwn(engine, root)
  if (pinned && pinned.isAdHoc !== settings.isAdHoc) {
    engine.store.write(() => engine.store.mirrors.setAdHoc(pinned.id, settings.isAdHoc))
  }
  const mustPinRoot =
    options.acceptsRoot || (pinned !== undefined && stored !== undefined && hasNewValues(pinned, stored))
  const opened = { settings, root, mustPinRoot, ownDirectories, runId }
  if (stored && engine.service.isEmbedded) {
    if (!options.isDryRun) followNewlyReadable(engine, stored)
    return { row: stored, ...opened, verify: async () => {} }
  }
  if (stored) return { row: stored, ...opened, verify: () => verifyService(engine, stored, settings) }
  assertNarrow(settings, options)
  const connection = await engine.service.connect(engine.signal)
  const row = await pinMirror(engine, settings, root, { connection, options })
  if (!options.isDryRun) followNewlyReadable(engine, row)
  return { row, ...opened, verify: async () => {} }
}

/** Follows documents without text again if another version of the library, or new packages, may be able to read them. */
function followNewlyReadable({ store, service }: Engine, row: MirrorRow): void {
  const key = `readers:${row.id}`
  const before = store.keyValues.get(key)
  // Most mirrors have no such documents, and asking which readers are installed takes longer.
  if (before !== undefined && !store.contents.isAnyTextIncomplete(row)) return
  const readers = service.describeReaders?.()
  if (readers === undefined || readers === before) return
  store.write(() => {
    store.contents.followAgain(row)
    store.keyValues.set(key, readers)
  })
}

function findPinned({ store, service }: Engine, { name }: MirrorSettings): MirrorRow | undefined {
  const row = store.mirrors.findByName(name)
  const isOther = row && isNameReleased({ isAdHoc: row.isAdHoc, origin: row.library.origin }, service)
  return isOther ? undefined : row
}

/** Throws HeldBackError for a broad root that was not confirmed; a dry run needs no confirmation. */
function assertNarrow(settings: MirrorSettings, { isDryRun, acceptsBreadth }: PassOptions): void {
  const { breadth, isAdHoc, name, path } = settings
  if (breadth === null || isDryRun || acceptsBreadth) return
  const hint = `"shelfd sync ${shellWord(isAdHoc ? path : name)} --yes"`
  throw new HeldBackError('confirmation-needed', `Mirroring "${path}" sends ${breadth}; if that is meant: ${hint}`)
}

/** Returns the root to pin. Values that the system does not report now stay as pinned, unless another root was accepted. */
function pinnedRootOf(pinned: MirrorRow, root: RootDirectory, { acceptsRoot }: PassOptions): PinnedRoot {
  const found = pinOf(root)
  if (acceptsRoot) return found
  const { rootBirthNs, rootVolumeId, rootVolumeBytes } = pinned
  return {
    ...found,
    rootBirthNs: found.rootBirthNs ?? rootBirthNs,
    rootVolumeId: found.rootVolumeId ?? rootVolumeId,
    rootVolumeBytes: found.rootVolumeBytes ?? rootVolumeBytes,
  }
}

/** Returns whether the system reports a value that was not pinned, or a new size. */
function hasNewValues(pinned: PinnedRoot, stored: PinnedRoot): boolean {
  const { rootBirthNs, rootVolumeId, rootVolumeBytes } = pinned
  return (
    rootBirthNs !== stored.rootBirthNs ||
    rootVolumeId !== stored.rootVolumeId ||
    rootVolumeBytes !== stored.rootVolumeBytes
  )
}

async function verifyService(engine: Engine, stored: MirrorRow, settings: MirrorSettings): Promise<void> {
  const connection = await engine.service.connect(engine.signal)
  assertSameService(stored, engine.service, connection.access)
  await assertLibraryThere(engine, stored, settings, connection)
}

function assertNotOwn({ ownDirectories }: Engine, { realPath }: RootDirectory): readonly string[] {
  const below = ownDirectoriesBelow(realPath, ownDirectories)
  if (below !== 'inside') return below
  throw new UsageError('bad-usage', `Cannot mirror "${realPath}": it holds the data of shelfd itself`)
}

/** Throws AccessError `root-mismatch` unless the directory is the one that was pinned (P15, roots). */
export function assertSameRoot(pinned: MirrorRow, root: RootDirectory): void {
  const { name, path, rootInode, rootBirthNs } = pinned
  const hint = `if it is the right one, "shelfd sync ${shellWord(name)} --accept-root" accepts it`
  if (path !== root.realPath) {
    const text = `The mirror "${name}" was first used for "${path}", and the configuration now names "${root.realPath}"`
    throw new AccessError('root-mismatch', `${text}; ${hint}, otherwise give it a mirror of its own`)
  }
  if (rootInode !== numberOfNode(root.inode)) {
    const text = `"${path}" is not the directory that the mirror "${name}" was first used for`
    throw new AccessError('root-mismatch', `${text} (another one replaced it, or a mount is missing); ${hint}`)
  }
  const isOtherBirth = rootBirthNs !== null && root.birthNs !== null && rootBirthNs !== root.birthNs
  const volume = { id: pinned.rootVolumeId, sizeBytes: pinned.rootVolumeBytes }
  if (isOtherBirth || !mayBeSameVolume(volume, root.volume)) {
    const text = `The file system that is mounted at "${path}" is not the one that the mirror "${name}" was first used for`
    throw new AccessError('root-mismatch', `${text}; ${hint}`)
  }
}

/** Throws AccessError `library-mismatch` unless the remote path is the pinned one (P15, roots). */
export function assertSamePlace({ name, remotePath }: MirrorRow, settings: Pick<MirrorSettings, 'remotePath'>): void {
  if (remotePath === settings.remotePath) return
  const text = `The mirror "${name}" was first used with ${remotePath}, and the configuration now names ${settings.remotePath}`
  throw new AccessError('library-mismatch', `${text}; give the other remote path a mirror of its own`)
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
    throw new AccessError('library-mismatch', `${text}, which this credential cannot read`)
  }
  if (settings.library !== found.id && settings.library !== found.name) {
    const text = `The mirror "${name}" belongs to the library "${found.name}" (${found.id})`
    throw new AccessError('library-mismatch', `${text}, and the configuration now names "${settings.library}"`)
  }
  if (found.name !== library.name) engine.store.write(() => engine.store.mirrors.renameLibrary(library.id, found.name))
}
