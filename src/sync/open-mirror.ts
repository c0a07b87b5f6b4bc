import { RefusedError, UsageError } from '../foundation/errors.ts'
import type { ContentRoot } from '../local/content-root.ts'
import { ownDirectoriesBelow } from '../rules/own-directories.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { Connection, Engine, MirrorSettings, OpenMirror } from './engine.ts'
import { findLibrary } from './find-library.ts'
import type { Pass } from './pass.ts'
import { pinMirror } from './pin-mirror.ts'
import { assertSameService } from './pinned-service.ts'

/**
 * Finds the mirror's row, or pins it at first use: origin, tenant, library, remote path and the root's identity. Any
 * mismatch with what was pinned throws RefusedError (P15); what the service must be asked for is left to `verify`, so
 * that the walk can begin before. A quiet run on the embedded library needs no request for it.
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
  if (known && isOwn) return { row: known, ...opened, verify: async () => {} }
  if (known) return { row: known, ...opened, verify: () => verifyService(engine, known, settings) }
  const connection = await engine.service.connect(engine.signal)
  const row = await pinMirror(engine, settings, root, { connection, options })
  return { row, ...opened, verify: async () => {} }
}

async function verifyService(engine: Engine, known: MirrorRow, settings: MirrorSettings): Promise<void> {
  const connection = await engine.service.connect(engine.signal)
  assertSameService(known, engine.service, connection.access)
  await assertLibraryThere(engine, known, settings, connection)
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
