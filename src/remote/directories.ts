import { nameOfLibraryPath, parentLibraryPath } from '../contract/library-path.ts'
import { directoryNode, directoryPage } from '../contract/records.ts'
import { PAGE_LIMITS } from '../contract/routes.ts'
import { RejectedError } from '../foundation/errors.ts'
import { jsonOf } from './answers.ts'
import { cannot } from './failures.ts'
import { pagesOf } from './paging.ts'
import type { Query, Send, ServiceRequest } from './request.ts'
import type { ContractFacts, ServiceClient } from './service-client.ts'

type DirectoriesTopic = Pick<ServiceClient, 'listDirectory' | 'createDirectory'>

const readPage = jsonOf(directoryPage)
const readNode = jsonOf(directoryNode, [201])

/** Directories: list (4.10), create (4.11). */
export function directoriesTopic(
  send: Send,
  facts: (signal?: AbortSignal) => Promise<ContractFacts>,
): DirectoriesTopic {
  const listPage = (
    library: string,
    path: string,
    page: { limit: number; cursor?: string | undefined },
    signal?: AbortSignal,
  ) =>
    send({
      ...listing(library, path, page),
      verb: 'list',
      subject: path,
      right: 'read',
      repeat: 'always',
      read: readPage,
      signal,
    })

  const post = (library: string, path: string, body: object, signal?: AbortSignal) =>
    send({
      target: { kind: 'route', route: 'createDirectory', values: { library } },
      verb: 'create the directory',
      subject: path,
      right: 'update',
      repeat: 'always',
      body: { kind: 'json', value: body },
      read: readNode,
      signal,
    })

  return {
    listDirectory: (library, path, signal) =>
      pagesOf(cannot({ verb: 'list', subject: path }, ''), (cursor) =>
        listPage(library, path, { limit: PAGE_LIMITS.directory.max, cursor }, signal),
      ),
    async createDirectory(library, path, signal) {
      const body = directoryBody(path, (await facts(signal)).createDirectory)
      try {
        await post(library, path, body, signal)
        return 'created'
      } catch (error) {
        if (!(error instanceof RejectedError) || error.code !== 'conflict') throw error
        await confirmExisting(() => listPage(library, path, { limit: 1 }, signal), error)
        return 'existing'
      }
    },
  }
}

/** A conflict means "exists" only when a listing of the directory says so too; else the conflict stands. */
async function confirmExisting(list: () => Promise<unknown>, conflict: RejectedError): Promise<void> {
  try {
    await list()
  } catch (error) {
    throw error instanceof RejectedError ? conflict : error
  }
}

function directoryBody(path: string, fact: ContractFacts['createDirectory']): object {
  if (fact.kind === 'path') return { [fact.field]: path }
  return { [fact.nameField]: nameOfLibraryPath(path), [fact.parentField]: parentLibraryPath(path) }
}

function listing(
  library: string,
  path: string,
  page: { limit: number; cursor?: string | undefined },
): Pick<ServiceRequest<unknown>, 'target'> {
  const query: Query = [
    ['path', path],
    ['limit', String(page.limit)],
  ]
  const rest: Query = page.cursor === undefined ? query : [...query, ['cursor', page.cursor]]
  return { target: { kind: 'route', route: 'listDirectory', values: { library }, query: rest } }
}
