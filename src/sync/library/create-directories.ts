import { joinLibraryPath } from '../../contract/library-path.ts'
import { forEachConcurrently } from '../../foundation/concurrency/run-concurrently.ts'
import { AccessError, isNotFound, RequestError } from '../../foundation/errors.ts'
import { parentOf } from '../../foundation/files/paths.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Store } from '../../store/open-store.ts'
import type { MirrorContext, OpenMirror } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { listRemote } from './list-library.ts'

/** How many created directories one commit records. After a crash at most that many are requested again, and answered with 409. */
const COMMIT_EVERY = 64

/** After this many failures in a row, the rest of a wave waits for the next run. Refusals (RequestError) do not count. */
const MAX_FAILURES_IN_A_ROW = 3

/** Returns the missing directories, parents first. If only some files are mirrored, leaves out directories that hold none of them. */
export function listDirectoriesToCreate(
  { directories }: Pick<Store, 'directories'>,
  { row, settings }: Pick<OpenMirror, 'row' | 'settings'>,
): readonly string[] {
  const pending = directories.listPending(row.id)
  if (settings.include.length === 0) return pending
  const needed = new Set([''])
  for (const holder of directories.listPendingHolders(row.id))
    for (let path = holder; !needed.has(path); path = parentOf(path)) needed.add(path)
  return pending.filter((path) => needed.has(path))
}

/**
 * Tries once to create every pending directory, parents first. Each wave begins at a random directory, and those that failed before come
 * last, so that none starves the others. Adds problems of paths to `problems`; throws failures of the service.
 */
export async function createDirectories(
  context: MirrorContext,
  summary: SyncSummary,
  problems: Map<string, PathProblem>,
): Promise<void> {
  const { engine, mirror } = context
  const pending = listDirectoriesToCreate(engine.store, mirror)
  if (pending.length === 0) return
  engine.progress.phase = 'directories'
  engine.progress.directoriesTotal += pending.length
  if (pending[0] === '') await makeAncestors(context, summary)
  await new DirectoryCreator(context, summary, problems).create(pending)
}

/** Creates the ancestors of the mirror's remote path, which are not directories of the mirror. */
async function makeAncestors(
  { engine, mirror: { row }, connection: { client } }: MirrorContext,
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
  readonly #context: MirrorContext
  readonly #summary: SyncSummary
  readonly #problems: Map<string, PathProblem>
  #uncommitted: string[] = []
  #failuresInARow = 0

  constructor(context: MirrorContext, summary: SyncSummary, problems: Map<string, PathProblem>) {
    this.#context = context
    this.#summary = summary
    this.#problems = problems
  }

  /** Creates directories in waves: first those whose parents the service has, then those whose parents the previous wave created. */
  async create(pending: readonly string[]): Promise<void> {
    const { store } = this.#context.engine
    const failedBefore = new Set(store.problems.list(this.#context.mirror.row.id).map(({ path }) => path))
    const paths = new Set(pending)
    const isBelowPending = (path: string) => path !== '' && paths.has(parentOf(path))
    const children = Map.groupBy(pending.filter(isBelowPending), parentOf)
    let uncreated = pending.length
    for (let wave = pending.filter((path) => !isBelowPending(path)); wave.length > 0; ) {
      uncreated -= wave.length
      const created = await this.#createWave(wave, failedBefore)
      wave = created.flatMap((path) => children.get(path) ?? [])
    }
    this.#summary.directories.failed += uncreated
  }

  async #createWave(wave: readonly string[], failedBefore: ReadonlySet<string>): Promise<string[]> {
    const { random, limits } = this.#context.engine
    const first = Math.floor(random() * wave.length)
    const rotated = [...wave.slice(first), ...wave.slice(0, first)]
    const rank = (path: string) => Number(failedBefore.has(path))
    const created: string[] = []
    // The service created the parents of this wave, so earlier failures no longer count.
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

  async #createOne(path: string): Promise<boolean> {
    const { row } = this.#context.mirror
    if (this.#failuresInARow >= MAX_FAILURES_IN_A_ROW) return this.#fail()
    try {
      const result = await this.#createRemotely(joinLibraryPath(row.remotePath, path))
      this.#summary.directories[result] += 1
      this.#context.engine.progress.directoriesDone += 1
      this.#uncommitted.push(path)
      this.#failuresInARow = 0
      if (this.#uncommitted.length >= COMMIT_EVERY) this.#commit()
      return true
    } catch (error) {
      const needed = { libraryId: row.library.remoteId, right: 'update' } as const
      const { signal } = this.#context.engine
      const failure = await itemFailure(error, this.#context.connection, needed, signal)
      if (!failure) throw error
      if (failure.code === 'not-found') await this.#recordNotFound(path)
      this.#failuresInARow += Number(!(failure instanceof RequestError))
      this.#problems.set(path, { path, code: failure.code, message: failure.message })
      return this.#fail()
    }
  }

  /** Throws if the library is gone. Otherwise marks `path` and all directories above and below it as pending, because one above is gone. */
  async #recordNotFound(path: string): Promise<void> {
    const { store } = this.#context.engine
    await assertLibraryRemains(this.#context)
    store.write(() => store.directories.markPending(this.#context.mirror.row.id, path))
  }

  async #createRemotely(path: string): Promise<'created' | 'existing'> {
    if (path === '/') return 'existing'
    const { client } = this.#context.connection
    return await client.createDirectory(this.#context.mirror.row.library.remoteId, path, this.#context.engine.signal)
  }

  #fail(): false {
    this.#summary.directories.failed += 1
    return false
  }

  #commit(): void {
    const { store, clock } = this.#context.engine
    const created = this.#uncommitted
    this.#uncommitted = []
    if (created.length === 0) return
    const { id } = this.#context.mirror.row
    store.write(() => created.forEach((path) => void store.directories.markCreated(id, path, clock.nowMs())))
  }
}

/** Marks as pending the directories that a complete listing no longer shows, and no others (P11, files hidden by an error). */
export async function recheckDirectories(context: MirrorContext): Promise<void> {
  const { store } = context.engine
  const { row } = context.mirror
  const shown = await listFolders(context)
  if (!shown) return
  const gone = store.directories.list(row.id).filter(({ path }) => !shown.has(joinLibraryPath(row.remotePath, path)))
  if (gone.length === 0) return
  store.write(() => gone.forEach(({ path }) => void store.directories.markPending(row.id, path)))
}

/** Returns the paths of all folders of the library; undefined if the listing is incomplete or not permitted. */
async function listFolders({
  engine: { limits, logger, signal },
  mirror: { row },
  connection: { client },
}: MirrorContext): Promise<ReadonlySet<string> | undefined> {
  const shown = new Set(['/'])
  const listing = listRemote({
    client,
    libraryId: row.library.id,
    remoteId: row.library.remoteId,
    concurrency: limits.transfers,
    logger,
    signal,
    add: () => {},
    addFolder: (path) => void shown.add(path),
  })
  try {
    return (await listing).incomplete.length > 0 ? undefined : shown
  } catch (error) {
    if (error instanceof AccessError && error.code === 'right-missing') return undefined
    throw error
  }
}

/** Throws AccessError `library-mismatch` if the library is gone; ignores other failures. */
export async function assertLibraryRemains({
  engine,
  mirror: { row },
  connection: { client },
}: MirrorContext): Promise<void> {
  try {
    await client.showLibrary(row.library.remoteId, engine.signal)
  } catch (error) {
    if (!isNotFound(error)) return
    const text = `The library "${row.library.name}" (${row.library.remoteId}) of the mirror "${row.name}" is gone from the service`
    const hint = `restore it, or run "shelfd mirrors forget ${shellWord(row.name)}" and sync into another`
    throw new AccessError('library-mismatch', `${text}, and shelfd sends nothing more to it; ${hint}`, {
      cause: error,
    })
  }
}

/** If uploads name their directory, returns whether the service answers that `directory` does not exist; otherwise false. */
export async function isDirectoryGone(
  { engine: { signal }, mirror: { row }, connection: { client } }: MirrorContext,
  directory: string,
): Promise<boolean> {
  try {
    const capabilities = await client.capabilities(signal)
    if (capabilities.uploadDirectoryField.field === undefined) return false
    const path = joinLibraryPath(row.remotePath, directory)
    for await (const _ of client.listDirectory(row.library.remoteId, path, signal)) break
    return false
  } catch (error) {
    return isNotFound(error)
  }
}
