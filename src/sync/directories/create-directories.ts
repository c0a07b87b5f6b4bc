import { joinLibraryPath } from '../../contract/library-path.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { RequestError } from '../../foundation/errors.ts'
import { parentOf } from '../../foundation/files/paths.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import type { PathProblem } from '../observe/observation.ts'
import { assertLibraryRemains } from './missing-place.ts'

/** Created directories per commit; after a crash, at most that many requests answer 409. */
const COMMIT_EVERY = 64

/** After so many failures in a row other than rejections, the rest waits for the next run: each may take minutes. */
const MOST_FAILURES_IN_A_ROW = 3

/**
 * Creates every pending directory of the mirror: parents first, each once. Directories that failed before come last, and the order begins
 * at a random one, so that directories that always fail cannot starve the others. Returns the problems of paths; throws what
 * concerns the service.
 */
export async function createDirectories(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const pending = engine.store.directories.listPending(mirror.row.id)
  if (pending.length === 0) return []
  engine.progress.phase = 'directories'
  engine.progress.directoriesTotal += pending.length
  if (pending[0] === '') await makeAncestors(engine, mirror, connection, summary)
  const creator = new DirectoryCreator(engine, mirror, connection, summary)
  await creator.create(pending)
  return creator.problems
}

/** Creates the ancestors of the mirror's remote path, which are not directories of the mirror. */
async function makeAncestors(
  engine: Engine,
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
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #summary: SyncSummary
  /** Paths of those created at the service, not committed. */
  #uncommitted: string[] = []
  #failuresInARow = 0

  constructor(engine: Engine, mirror: OpenMirror, connection: Connection, summary: SyncSummary) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#summary = summary
  }

  /** Begins with those whose parents the service has, at every depth; the others follow in waves, once their parents are created. */
  async create(pending: readonly string[]): Promise<void> {
    const { store } = this.#engine
    const failedBefore = new Set(store.problems.list(this.#mirror.row.id).map(({ path }) => path))
    const paths = new Set(pending)
    const isBelowPending = (path: string) => path !== '' && paths.has(parentOf(path))
    const children = Map.groupBy(pending.filter(isBelowPending), parentOf)
    let left = pending.length
    for (let wave = pending.filter((path) => !isBelowPending(path)); wave.length > 0; ) {
      left -= wave.length
      const created = await this.#createWave(wave, failedBefore)
      wave = created.flatMap((path) => children.get(path) ?? [])
    }
    this.#summary.directories.failed += left
  }

  /** Returns the directories that were created. */
  async #createWave(wave: readonly string[], failedBefore: ReadonlySet<string>): Promise<string[]> {
    const { random, limits } = this.#engine
    const first = Math.floor(random() * wave.length)
    const rotated = [...wave.slice(first), ...wave.slice(0, first)]
    const rank = (path: string) => Number(failedBefore.has(path))
    const created: string[] = []
    // That directories above these were created shows that the service creates some.
    this.#failuresInARow = 0
    try {
      await forEachConcurrently(
        rotated.sort((a, b) => rank(a) - rank(b)),
        limits.transfers,
        async (path) => {
          if (await this.#createOne(path)) created.push(path)
        },
      )
    } finally {
      this.#commit()
    }
    return created
  }

  /** Returns whether it was created; records its failure otherwise. */
  async #createOne(path: string): Promise<boolean> {
    const { row } = this.#mirror
    if (this.#failuresInARow >= MOST_FAILURES_IN_A_ROW) return this.#fail()
    try {
      const result = await this.#createRemotely(joinLibraryPath(row.remotePath, path))
      this.#summary.directories[result] += 1
      this.#engine.progress.directoriesDone += 1
      this.#uncommitted.push(path)
      this.#failuresInARow = 0
      if (this.#uncommitted.length >= COMMIT_EVERY) this.#commit()
      return true
    } catch (error) {
      const needed = { libraryId: row.library.remoteId, right: 'update' } as const
      const { signal } = this.#engine
      const failure = await itemFailure(error, this.#connection, needed, signal)
      if (!failure) throw error
      if (failure.code === 'not-found') await this.#recordNotFound(path)
      this.#failuresInARow += Number(!(failure instanceof RequestError))
      this.problems.push({ path, code: failure.code, message: failure.message })
      return this.#fail()
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

  #fail(): false {
    this.#summary.directories.failed += 1
    return false
  }

  #commit(): void {
    const { store, clock } = this.#engine
    const created = this.#uncommitted
    this.#uncommitted = []
    if (created.length === 0) return
    const { id } = this.#mirror.row
    store.write(() => created.forEach((path) => void store.directories.markCreated(id, path, clock.nowMs())))
  }
}
