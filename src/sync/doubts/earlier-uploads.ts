import { joinLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { forEachConcurrently } from '../../foundation/concurrency/run-concurrently.ts'
import { type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import { nameKey } from '../../rules/similar-names.ts'
import type { OpenFile } from '../../store/tables/files.ts'
import type { ForeignEntry } from '../../store/tables/foreign-entries.ts'
import type { MirrorContext } from '../engine.ts'
import { listRemote, type UnlistedDirectory } from '../library/list-library.ts'
import {
  findSame,
  readRemoteBytes,
  recordFailedSearch,
  type SearchResult,
  type SearchWork,
  trySearch,
} from './search-for-content.ts'

/**
 * Finds uploads that the store lacks because it is new, was restored or was copied (P14, adoption). It lists once the library's entries
 * that have no receipt. If a content may be one of them, it is searched for before its upload.
 */
export class EarlierUploads {
  readonly #context: MirrorContext
  readonly #work: SearchWork
  /** Files whose content is searched for before its upload, by content. */
  readonly #waiting = new Map<number, OpenFile>()
  readonly #absent = new Set<number>()
  #unlisted: readonly UnlistedDirectory[] = []

  constructor(context: MirrorContext, work: SearchWork) {
    this.#context = context
    this.#work = work
  }

  /** Records the library's entries without a receipt, unless that was done since the store was created, restored or copied. */
  async list(): Promise<void> {
    const { store, logger, signal, limits, fleet } = this.#context.engine
    const { id, name: mirror, library, remotePath } = this.#context.mirror.row
    if (!store.foreign.isSearchDue(id)) return
    const requiredSearches = fleet?.requiredSearches
    logger.warn('the state is new, restored or copied: shelfd looks for earlier uploads before it sends anything', {
      mirror,
    })
    const { incomplete } = await listRemote({
      client: this.#context.connection.client,
      libraryId: library.id,
      remoteId: library.remoteId,
      concurrency: limits.transfers,
      logger,
      signal,
      add: (entries) => store.writeRelaxed(() => store.foreign.add(entries)),
      from: [...new Set([remotePath, INBOX_PATH])],
    })
    this.#unlisted = incomplete
    // The ledger may have required another search meanwhile.
    if (incomplete.length === 0 && requiredSearches === fleet?.requiredSearches)
      store.write(() => store.foreign.recordSearched(id))
  }

  /** Returns whether the file must wait because the library may already have its content. */
  mustWait(file: OpenFile): boolean {
    if (this.#absent.has(file.contentId)) return false
    if (!this.#findUnlisted(file) && this.#candidates(file).next().done) return false
    // A content whose search failed before waits until its quarantine is over.
    if (quarantineLeftMs(file.retryAt, this.#context.engine.clock.nowMs()) === 0)
      this.#waiting.set(file.contentId, file)
    return true
  }

  /** Searches for the contents of the files that wait; returns how many the library does not have. */
  async search(): Promise<number> {
    const files = [...this.#waiting.values()]
    this.#waiting.clear()
    let absent = 0
    await forEachConcurrently(files, this.#context.engine.limits.transfers, async (file) => {
      const result = await this.#searchFor(file)
      if (!this.#isStillUnsent(file)) return
      if ('failure' in result) this.#recordFailure(file, result.failure)
      else if (result.found) this.#recordFound(file, result.found)
      else {
        this.#absent.add(file.contentId)
        absent += 1
      }
    })
    return absent
  }

  async #searchFor(file: OpenFile): Promise<SearchResult<ForeignEntry | undefined>> {
    const unlisted = this.#findUnlisted(file)
    if (unlisted) return { failure: new TemporaryError('service-unavailable', cannotList(unlisted)) }
    const compare = (candidate: ForeignEntry) => trySearch(this.#context, () => this.#isSame(file, candidate))
    return await findSame({ candidates: this.#candidates(file), compare, doubts: 0 })
  }

  /** Yields the entries that may be the content: it may have been uploaded under the name of any of its copies. */
  *#candidates({ contentId, sha256, mime, size }: OpenFile): Generator<ForeignEntry> {
    const { foreign, files } = this.#context.engine.store
    const libraryId = this.#context.mirror.row.library.id
    if (!foreign.hasAny(libraryId)) return
    const content = { libraryId, sha256, mime, size }
    const keys = new Set(files.listNames(contentId).map(nameKey))
    for (const key of keys) yield* foreign.ofName(content, key)
    for (const key of keys) yield* foreign.listSimilarNames(content, key)
  }

  /** Returns whether an entry has the bytes of the file. Stores what was read, so that each entry is read once. */
  async #isSame({ directory, name, mime, size, sha256 }: OpenFile, { resourceId }: ForeignEntry): Promise<boolean> {
    const { store } = this.#context.engine
    const { library } = this.#context.mirror.row
    const content = { path: joinPath(directory, name), mime, size }
    const found = await readRemoteBytes(this.#context.engine, this.#context.connection, resourceId, content)
    store.writeRelaxed(() => {
      if (found) store.foreign.recordBytes(library.id, resourceId, found)
      else store.foreign.remove(library.id, resourceId)
    })
    return found?.sha256 !== undefined && sha256.equals(found.sha256)
  }

  /** Returns the directory that may hold the upload and could not be listed, if there is one. */
  #findUnlisted({ directory }: OpenFile): UnlistedDirectory | undefined {
    const target = joinLibraryPath(this.#context.mirror.row.remotePath, directory)
    return this.#unlisted.find(({ path }) => path === INBOX_PATH || isWithin(path, target))
  }

  /** Returns false if another mirror of the library found the content, or began to upload it, during the search. */
  #isStillUnsent({ contentId }: OpenFile): boolean {
    const { store, inFlight } = this.#context.engine
    const state = store.contents.getUploadState(contentId).state
    return (state === 'new' || state === 'refused') && !inFlight.has(contentId)
  }

  #recordFailure(file: OpenFile, failure: ShelfdError): void {
    const content = { id: file.contentId, path: pathOf(file) }
    recordFailedSearch(this.#context.engine, content, failure, this.#work.attempts)
  }

  #recordFound(file: OpenFile, { resourceId }: ForeignEntry): void {
    const { store, clock, logger, fileLog, fleet } = this.#context.engine
    const { row, runId } = this.#context.mirror
    const { uploads } = this.#work.summary
    const { contentId, size: sizeBytes } = file
    const path = pathOf(file)
    const stored = { resourceId, isDuplicate: false, hasSecondLocation: false, mirrorId: row.id, runId }
    store.write(() => {
      store.contents.markStored(contentId, { ...stored, nowMs: clock.nowMs() })
      store.foreign.remove(row.library.id, resourceId)
      fleet?.recordEnd(contentId, 'adopted')
      uploads.aliases += Math.max(0, store.files.receiveAll(contentId) - 1)
    })
    uploads.duplicates += 1
    logger.debug('found an upload in the library that the store did not know', { mirror: row.name, path })
    fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId, isDuplicate: true })
  }
}

function pathOf({ directory, name }: OpenFile): string {
  return joinPath(directory, name)
}

function cannotList({ path, reason }: UnlistedDirectory): string {
  return `its directory "${path}" cannot be listed (${reason})`
}
