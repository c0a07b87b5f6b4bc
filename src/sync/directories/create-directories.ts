import { joinLibraryPath } from '../../contract/library-path.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { RejectedError } from '../../foundation/errors.ts'
import { parentOf } from '../../foundation/files/paths.ts'
import type { SyncSummary } from '../../rules/run/sync-summary.ts'
import type { DirectoryRow } from '../../store/tables/directories.ts'
import type { Connection, Engine, OpenMirror, StoreContext } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import type { PathProblem } from '../observe/observation.ts'
import { assertLibraryRemains } from './missing-place.ts'

/** What creating directories needs. */
export type DirectoryContext = StoreContext & Pick<Engine, 'random' | 'limits' | 'progress' | 'signal'>

/** Created directories per commit; after a crash, at most that many requests answer 409. */
const COMMIT_EVERY = 64

/** After so many failures in a row other than rejections, the rest waits for the next run: each may take minutes. */
const MOST_FAILURES_IN_A_ROW = 3

/**
 * Creates every pending directory of the mirror: parents first, each once. Each level starts at a random directory, so that
 * directories that always fail cannot starve the others. Returns the problems of paths; throws what concerns the service.
 */
export async function createDirectories(
  engine: DirectoryContext,
  mirror: OpenMirror,
  connection: Connection,
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const pending = engine.store.directories.listPending(mirror.row.id)
  if (pending.length > 0) engine.progress.phase = 'directories'
  engine.progress.directoriesTotal += pending.length
  if (pending[0]?.path === '') await makeAncestors(engine, mirror, connection, summary)
  const maker = new DirectoryCreator(engine, mirror, connection, summary)
  for (const level of levelsOf(pending)) await maker.makeLevel(level)
  return maker.problems
}

/** Creates the ancestors of the mirror's remote path, which are not directories of the mirror. */
async function makeAncestors(
  engine: DirectoryContext,
  { row }: OpenMirror,
  { client }: Connection,
  { directories }: SyncSummary,
): Promise<void> {
  const segments = row.remotePath.split('/').slice(1, -1)
  for (let depth = 1; depth <= segments.length; depth += 1) {
    const path = `/${segments.slice(0, depth).join('/')}`
    const result = await client.createDirectory(row.library.remoteId, path, engine.signal)
    directories[result] += 1
  }
}

class DirectoryCreator {
  readonly problems: PathProblem[] = []
  readonly #engine: DirectoryContext
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #summary: SyncSummary
  readonly #failed = new Set<string>()
  #created: number[] = []
  #failuresInARow = 0

  constructor(engine: DirectoryContext, mirror: OpenMirror, connection: Connection, summary: SyncSummary) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#summary = summary
  }

  async makeLevel(level: readonly DirectoryRow[]): Promise<void> {
    try {
      const { random, limits } = this.#engine
      const first = Math.floor(random() * level.length)
      const rotated = [...level.slice(first), ...level.slice(0, first)]
      await forEachConcurrently(rotated, limits.transfers, (directory) => this.#create(directory))
    } finally {
      this.#commit()
    }
  }

  async #create({ id, path }: DirectoryRow): Promise<void> {
    const { row } = this.#mirror
    const isBelowFailed = this.#failed.has(parentOf(path))
    if (isBelowFailed || this.#failuresInARow >= MOST_FAILURES_IN_A_ROW) return this.#fail(path)
    try {
      const result = await this.#createRemotely(joinLibraryPath(row.remotePath, path))
      this.#summary.directories[result] += 1
      this.#engine.progress.directoriesDone += 1
      this.#created.push(id)
      this.#failuresInARow = 0
      if (this.#created.length >= COMMIT_EVERY) this.#commit()
    } catch (error) {
      const needed = { libraryId: row.library.remoteId, right: 'update' } as const
      const { signal } = this.#engine
      const failure = await itemFailure(error, this.#connection, needed, signal)
      if (!failure) throw error
      if (failure.code === 'not-found') await this.#recordNotFound(path)
      this.#failuresInARow += Number(!(failure instanceof RejectedError))
      this.#fail(path)
      this.problems.push({ path, code: failure.code, message: failure.message })
    }
  }

  /** Throws when the library is gone. Otherwise a directory above `path` is gone, and the next run creates it again. */
  async #recordNotFound(path: string): Promise<void> {
    const { store, signal } = this.#engine
    await assertLibraryRemains(this.#mirror, this.#connection, signal)
    store.write(() => store.directories.markPending(this.#mirror.row.id, path))
  }

  async #createRemotely(path: string): Promise<'created' | 'existing'> {
    if (path === '/') return 'existing'
    const { client } = this.#connection
    return await client.createDirectory(this.#mirror.row.library.remoteId, path, this.#engine.signal)
  }

  #fail(path: string): void {
    this.#failed.add(path)
    this.#summary.directories.failed += 1
  }

  #commit(): void {
    const { store, clock } = this.#engine
    const created = this.#created
    this.#created = []
    if (created.length > 0)
      store.write(() => created.forEach((id) => void store.directories.markCreated(id, clock.nowMs())))
  }
}

/** Groups directories by depth: those of one level don't depend on each other. */
function levelsOf(directories: readonly DirectoryRow[]): DirectoryRow[][] {
  const levels: DirectoryRow[][] = []
  for (const directory of directories) {
    const depth = directory.path === '' ? 0 : directory.path.split('/').length
    levels[depth] ??= []
    levels[depth].push(directory)
  }
  return levels.filter((level) => level !== undefined)
}
