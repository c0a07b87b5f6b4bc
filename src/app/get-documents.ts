import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { forEachConcurrently } from '../foundation/concurrency/run-concurrently.ts'
import { FileError, isNotFound, messageOf, TemporaryError, UsageError } from '../foundation/errors.ts'
import { joinPath, nameOf, pathWithin } from '../foundation/files/paths.ts'
import type { ContentRow } from '../store/tables/contents.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import type { Connection } from '../sync/engine.ts'
import { itemFailure } from '../sync/item-failure.ts'
import { assertSameService } from '../sync/pin/pinned-service.ts'
import type { ReportContext } from '../sync/report/report.ts'
import { createDirectory, hashOfFile, saveFile } from './files/user-files.ts'
import { findPath } from './mirrors/choose-path.ts'
import type { Settings } from './settings/settings.ts'

type Content = Pick<ContentRow, 'sha256' | 'size' | 'resourceId'>

export interface WantedDocument {
  readonly mirror: MirrorRow
  readonly path: string
  /** The path of the downloaded file, relative to the directory of the download. */
  readonly target: string
  readonly content: Content
}

export interface GotDocuments {
  files: number
  bytes: number
  /** Files that already existed with the same bytes. */
  present: number
  readonly problems: { readonly path: string; readonly message: string }[]
}

/** Returns the current or former documents that `word` names: the identifier of a resource, or what `findPath` finds. Throws UsageError. */
export function listWanted(
  { store }: ReportContext,
  settings: Settings,
  { word, cwd }: { readonly word: string; readonly cwd: string },
): WantedDocument[] {
  const ofResource = store.mirrors.list().flatMap((mirror) => findResource(store, mirror, word) ?? [])
  if (ofResource.length > 0) return ofResource.slice(0, 1)
  const place = findPath(settings, store, { word, cwd })
  if (!place) {
    const text = `Cannot get "${word}": it is neither a mirror, nor a path in one, nor a resource that was sent from here`
    const others = '"shelfd search" and "shelfd ls" list the identifiers of other resources'
    throw new UsageError('unknown-mirror', `${text}; ${others}, and "shelfd resource download ID" gets one`)
  }
  const wanted = listBelow(store, place.row, place.path)
  if (wanted.length > 0) return wanted
  throw new UsageError('bad-usage', `Cannot get "${word}": the state has no file there`)
}

function findResource(
  store: ReportContext['store'],
  mirror: MirrorRow,
  resourceId: string,
): WantedDocument | undefined {
  const content = store.contents.findByResource(mirror.library.id, resourceId)
  if (!content) return undefined
  const [current] = store.report.listPathsOf(mirror.id, content.id, 1)
  const path = current ?? store.report.listSuperseded(mirror.id).find(({ id }) => id === content.id)?.path
  return path === undefined ? undefined : { mirror, path, target: nameOf(path), content }
}

function listBelow(store: ReportContext['store'], mirror: MirrorRow, path: string): WantedDocument[] {
  const name = path === '' ? mirror.name : nameOf(path)
  const toWanted = (each: string, content: Content): WantedDocument => {
    return { mirror, path: each, target: join(name, pathWithin(path, each) ?? ''), content }
  }
  const current = store.report.listFilesBelow(mirror.id, path)
  if (current.length > 0) return current.map((file) => toWanted(joinPath(file.directory, file.name), file))
  const last = new Map(store.report.listGone(mirror.id, path).map((each) => [each.path, each]))
  return [...last.values()].map((each) => toWanted(each.path, each))
}

/**
 * Downloads documents. Writes each only if its bytes have the hash of the bytes that were sent, and never replaces a file. Returns the
 * problems of single documents, and throws those of the service or of the directory. Calls `onDone` after each document.
 */
export async function getDocuments(
  context: ReportContext,
  directory: string,
  documents: readonly WantedDocument[],
  onDone: (soFar: GotDocuments) => void,
): Promise<GotDocuments> {
  const { service, signal } = context
  const wanted = listTargets(documents)
  await createDirectory(directory)
  const connection = await service.connect(signal)
  for (const mirror of new Set(documents.map((each) => each.mirror))) {
    assertSameService(mirror, service, connection.access)
  }
  const got: GotDocuments = { files: 0, bytes: 0, present: 0, problems: [] }
  await forEachConcurrently(wanted, context.listConcurrency, async ({ mirror, path, target, content }) => {
    const file = join(directory, target)
    try {
      const isWritten = await getDocument(context, connection, { file, below: directory }, content)
      if (isWritten) [got.files, got.bytes] = [got.files + 1, got.bytes + content.size]
      else got.present += 1
    } catch (error) {
      const needed = { libraryId: mirror.library.remoteId, right: 'read' } as const
      const isLocal = error instanceof FileError || error instanceof UsageError
      const failure = isLocal ? error : await itemFailure(error, connection, needed, signal)
      if (!failure) throw error
      got.problems.push({ path: joinPath(mirror.name, path), message: messageOf(failure) })
    }
    onDone(got)
  })
  return got
}

/** Returns one document for each target; throws UsageError `bad-usage` if two different contents have the same target. */
function listTargets(documents: readonly WantedDocument[]): Iterable<WantedDocument> {
  const byTarget = new Map<string, WantedDocument>()
  for (const document of documents) {
    const { target, content, path, mirror } = document
    const before = byTarget.get(target)
    if (before && !before.content.sha256.equals(content.sha256)) {
      const both = `"${joinPath(before.mirror.name, before.path)}" and "${joinPath(mirror.name, path)}"`
      throw new UsageError('bad-usage', `Cannot write both ${both} to "${target}": get them into two directories`)
    }
    byTarget.set(target, before ?? document)
  }
  return byTarget.values()
}

const MAX_TRIES = 4
const RETRY_MS = 200

/** Downloads one document; tries again if the connection breaks. Returns false if the file already exists with the same bytes. */
async function getDocument(
  { clock, signal }: ReportContext,
  { client }: Connection,
  { file, below }: { readonly file: string; readonly below: string },
  content: Content,
): Promise<boolean> {
  const { resourceId, sha256 } = content
  const found = await hashOfFile(file)
  if (found?.equals(sha256)) return false
  if (found) throw new FileError('io-error', `another file is at "${file}", which is never replaced`)
  if (resourceId === null) throw new FileError('io-error', 'the service does not have it: "shelfd sync" sends it')
  await createDirectory(dirname(file), { below })
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { body } = await client.downloadResource(resourceId, signal)
      await saveFile(file, verifyBytes(body, content), { force: false, below, signal })
      return true
    } catch (error) {
      if (isNotFound(error)) throw new FileError('io-error', 'the service does not have it any more')
      if (!(error instanceof TemporaryError) || attempt === MAX_TRIES) throw error
      await clock.sleep(RETRY_MS * attempt, signal)
    }
  }
}

/** Passes the downloaded bytes on; throws FileError at the end, or after too many bytes, if they differ from those that were sent. */
async function* verifyBytes(body: AsyncIterable<Uint8Array>, { sha256, size }: Content): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > size) break
    hash.update(chunk)
    yield chunk
  }
  if (bytes === size && hash.digest().equals(sha256)) return
  throw new FileError('io-error', 'the service has other bytes than were sent: nothing was written')
}
