import { nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import { type DirectoryPage, directoryNode, directoryPage } from '../../contract/records.ts'
import { PAGE_LIMITS } from '../../contract/routes.ts'
import { RequestError } from '../../foundation/errors.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { Capabilities, ServiceClient } from '../service-client.ts'
import { libraryPathOf } from '../wire/addresses.ts'
import { jsonOf } from '../wire/answer-or-refusal.ts'
import type { Query, Send, ServiceRequest } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'
import { pageQuery, pagesOf } from './paging.ts'

type DirectoryEndpoints = Pick<ServiceClient, 'listDirectory' | 'createDirectory'>

/** One directory of one library, with its caller's signal. */
interface Place {
  readonly library: string
  readonly path: string
  readonly signal: AbortSignal | undefined
}

export function directoryEndpoints(send: Send, readCapabilities: CapabilitiesReader): DirectoryEndpoints {
  return {
    async *listDirectory(library, given, signal) {
      const path = libraryPathOf(given)
      yield* pagesOf(cannot({ verb: 'list', subject: path }, ''), (cursor) =>
        send(listing({ library, path, signal }, pageQuery(PAGE_LIMITS.directory.max, cursor))),
      )
    },
    async createDirectory(library, path, signal) {
      const place = { library, path: libraryPathOf(path), signal }
      const { createDirectory } = await readCapabilities(signal)
      try {
        await send(creation(place, createDirectory))
        return 'created'
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== 'conflict') throw error
        await confirmExisting(send, place, error)
        return 'existing'
      }
    },
  }
}

/** Checks whether a conflict means "exists": if the directory cannot be listed, throws the conflict again. */
async function confirmExisting(send: Send, place: Place, conflict: RequestError): Promise<void> {
  try {
    await send(listing(place, pageQuery(1, undefined)))
  } catch (error) {
    throw error instanceof RequestError ? conflict : error
  }
}

const readPage = jsonOf(directoryPage)

function listing({ library, path, signal }: Place, page: Query): ServiceRequest<DirectoryPage> {
  return {
    target: { kind: 'route', route: 'listDirectory', values: { library }, query: [['path', path], ...page] },
    verb: 'list',
    subject: path,
    right: 'read',
    retry: 'always',
    read: readPage,
    signal,
  }
}

const readNode = jsonOf(directoryNode, [201])

/** Safe to retry: after a lost answer the next try gets a conflict, which createDirectory resolves. */
function creation(
  { library, path, signal }: Place,
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
