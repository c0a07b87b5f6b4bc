import { hash } from 'node:crypto'
import { z } from 'zod'
import { nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import {
  accessContext,
  type DirectoryPage,
  directoryNode,
  directoryPage,
  libraryPage,
  libraryRecord,
  librarySummary,
} from '../../contract/records.ts'
import { PAGE_LIMITS, type RouteName } from '../../contract/routes.ts'
import { RequestError, TemporaryError } from '../../foundation/errors.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { Capabilities, ServiceClient } from '../service-client.ts'
import { libraryPathOf } from '../wire/addresses.ts'
import { expectStatus, jsonOf } from '../wire/answer-or-refusal.ts'
import type { Query, Send, ServiceRequest } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'

type LibraryEndpoints = Pick<
  ServiceClient,
  'checkAccess' | 'listLibraries' | 'createLibrary' | 'showLibrary' | 'deleteLibrary'
>

/** Leaves out libraries that do not match the interface, so that the others can still be used; listLibraries reports them. */
const usableLibraries = z
  .array(z.unknown())
  .transform((libraries) => libraries.flatMap((library) => librarySummary.safeParse(library).data ?? []))
const readContext = jsonOf(accessContext.extend({ libraries: usableLibraries }))
const readLibraries = jsonOf(libraryPage)
const readLibrary = jsonOf(libraryRecord)
const readCreated = jsonOf(libraryRecord, [201])

export function libraryEndpoints(send: Send, readCapabilities: CapabilitiesReader): LibraryEndpoints {
  return {
    checkAccess: (signal) =>
      send({
        target: { kind: 'route', route: 'checkAccess' },
        verb: 'check the access',
        retry: 'always',
        read: readContext,
        signal,
      }),
    async *listLibraries(signal) {
      const action = { verb: 'list the libraries' }
      const fetchPage = (cursor: string | undefined) =>
        send({ ...action, target: listTarget(cursor), right: 'read', retry: 'always', read: readLibraries, signal })
      for await (const page of pagesOf(action, fetchPage)) yield* page.items
    },
    async createLibrary(name, overview, signal) {
      const { nameField, overviewField } = (await readCapabilities(signal)).createLibrary
      const described = overviewField !== undefined && overview !== null ? { [overviewField]: overview } : {}
      return send({
        target: { kind: 'route', route: 'createLibrary' },
        verb: 'create the library',
        subject: name,
        right: 'library.create',
        retry: 'if-without-effect',
        body: { kind: 'json', value: { [nameField]: name, ...described } },
        read: readCreated,
        signal,
      })
    },
    showLibrary: (libraryId, signal) =>
      send({
        target: oneLibrary('showLibrary', libraryId),
        verb: 'show the library',
        subject: libraryId,
        right: 'read',
        retry: 'always',
        read: readLibrary,
        signal,
      }),
    deleteLibrary: (libraryId, signal) =>
      send({
        target: oneLibrary('deleteLibrary', libraryId),
        verb: 'delete the library',
        subject: libraryId,
        right: 'library.delete',
        retry: 'if-without-effect',
        read: (response, request) => expectStatus(response, request, [204]),
        signal,
      }),
  }
}

function listTarget(cursor: string | undefined) {
  return { kind: 'route', route: 'listLibraries', query: pageQuery(PAGE_LIMITS.libraries.max, cursor) } as const
}

function oneLibrary<R extends RouteName>(route: R, library: string) {
  return { kind: 'route', route, values: { library } } as const
}

type DirectoryEndpoints = Pick<ServiceClient, 'listDirectory' | 'createDirectory'>

/** One directory of one library, and the signal of the caller. */
interface DirectoryTarget {
  readonly library: string
  readonly path: string
  readonly signal: AbortSignal | undefined
}

export function directoryEndpoints(send: Send, readCapabilities: CapabilitiesReader): DirectoryEndpoints {
  return {
    async *listDirectory(library, directory, signal) {
      const path = libraryPathOf(directory)
      yield* pagesOf({ verb: 'list', subject: path }, (cursor) =>
        send(listing({ library, path, signal }, pageQuery(PAGE_LIMITS.directory.max, cursor))),
      )
    },
    async createDirectory(library, path, signal) {
      const target = { library, path: libraryPathOf(path), signal }
      const { createDirectory } = await readCapabilities(signal)
      try {
        await send(creation(target, createDirectory))
        return 'created'
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== 'conflict') throw error
        await confirmExisting(send, target, error)
        return 'existing'
      }
    },
  }
}

/** Checks whether a conflict means "exists": if the directory cannot be listed, throws the conflict again. */
async function confirmExisting(send: Send, target: DirectoryTarget, conflict: RequestError): Promise<void> {
  try {
    await send(listing(target, pageQuery(1, undefined)))
  } catch (error) {
    throw error instanceof RequestError ? conflict : error
  }
}

const readDirectory = jsonOf(directoryPage)

function listing({ library, path, signal }: DirectoryTarget, page: Query): ServiceRequest<DirectoryPage> {
  return {
    target: { kind: 'route', route: 'listDirectory', values: { library }, query: [['path', path], ...page] },
    verb: 'list',
    subject: path,
    right: 'read',
    retry: 'always',
    read: readDirectory,
    signal,
  }
}

const readNode = jsonOf(directoryNode, [201])

/** Returns the request that creates a directory. It is safe to retry: after a lost answer createDirectory resolves the conflict. */
function creation(
  { library, path, signal }: DirectoryTarget,
  capability: Capabilities['createDirectory'],
): ServiceRequest<unknown> {
  return {
    target: { kind: 'route', route: 'createDirectory', values: { library } },
    verb: 'create the directory',
    subject: path,
    right: 'update',
    retry: 'always',
    body: { kind: 'json', value: directoryBody(path, capability) },
    read: readNode,
    signal,
  }
}

function directoryBody(path: string, capability: Capabilities['createDirectory']): object {
  if (capability.kind === 'path') return { [capability.field]: path }
  return { [capability.nameField]: nameOfLibraryPath(path), [capability.parentField]: parentLibraryPath(path) }
}

type Action = Pick<ServiceRequest<unknown>, 'verb' | 'subject'>

interface Page {
  readonly next_cursor: string | null
  readonly truncated: boolean
}

/** A listing with more pages counts as endless. */
const MAX_PAGES = 200_000
/** Longer cursors are kept as digests (44 characters). */
const MAX_KEPT_LENGTH = 64

/**
 * Yields the pages of a listing; cursors go back unchanged. Throws TemporaryError('answer-malformed') if a page
 * contradicts itself, a cursor repeats or the listing does not end: the pages yielded until then are not the whole listing.
 */
export async function* pagesOf<P extends Page>(
  action: Action,
  fetchPage: (cursor: string | undefined) => Promise<P>,
  maxPages = MAX_PAGES,
): AsyncGenerator<P> {
  const seen = new Set<string>()
  let cursor: string | undefined
  while (seen.size < maxPages) {
    const page = await fetchPage(cursor)
    if (page.truncated !== (page.next_cursor !== null))
      throw incomplete(action, 'in one page, "truncated" and "next_cursor" contradict each other')
    if (page.next_cursor !== null && seen.has(markOf(page.next_cursor)))
      throw incomplete(action, 'the service sent a cursor twice')
    yield page
    if (page.next_cursor === null) return
    cursor = page.next_cursor
    seen.add(markOf(cursor))
  }
  throw incomplete(action, 'it has too many pages')
}

/** Returns a short form of a cursor, because pagesOf keeps all cursors of a listing. */
function markOf(cursor: string): string {
  return cursor.length <= MAX_KEPT_LENGTH ? cursor : hash('sha256', cursor, 'base64')
}

function pageQuery(limit: number, cursor: string | undefined): Query {
  const size = ['limit', String(limit)] as const
  return cursor === undefined ? [size] : [size, ['cursor', cursor]]
}

function incomplete(action: Action, reason: string): TemporaryError {
  return new TemporaryError('answer-malformed', cannot(action, `the listing is incomplete: ${reason}`))
}
