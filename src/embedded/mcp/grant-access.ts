import { directoryPage, libraryPage, resourceRecord, searchResponse } from '../../contract/records.ts'
import type { Grant } from '../access/grant.ts'
import { notFound, tooLarge } from '../http/api-error.ts'
import type { Question } from '../http/endpoint.ts'
import { libraryPathInput } from '../http/inputs.ts'
import { requireLibrary, requireResource } from '../http/require-access.ts'
import { listDirectory } from '../routes/list-directory.ts'
import { listLibraries } from '../routes/list-libraries.ts'
import { searchResources } from '../routes/search-resources.ts'
import { showResource } from '../routes/show-resource.ts'
import type { Service } from '../service.ts'
import { ContentReceiver } from '../storage/content-receiver.ts'
import { storeFile } from '../storage/store-file.ts'
import type { McpAccess, McpUpload } from './mcp-access.ts'

const PAGE = '500'
/** Passages have about 2,000 characters. */
const SHORTEST_USUAL_PASSAGE = 200

/** The embedded library for agents, with the rights of a grant: each call asks what the HTTP interface would. */
export function accessOf(service: Service, grant: Grant): McpAccess {
  const ask = (question: Question, query: Readonly<Record<string, unknown>>, ids = {}) =>
    question.ask({ service, grant, query, ids })
  return {
    async *listLibraries() {
      for (let query: Record<string, string> | undefined = { limit: PAGE }; query; ) {
        const { items, next_cursor: cursor } = libraryPage.parse(await ask(listLibraries, query))
        yield* items
        query = cursor === null ? undefined : { limit: PAGE, cursor }
      }
    },
    searchResources: async ({ query, libraryIds, limit }) =>
      searchResponse.parse(await ask(searchResources, { query, limit: String(limit), 'library_ids[]': libraryIds })),
    async *listDirectory(library, path) {
      for (let query: Record<string, string> | undefined = { path, limit: PAGE }; query; ) {
        const page = directoryPage.parse(await ask(listDirectory, query, { library }))
        yield page
        query = page.next_cursor === null ? undefined : { path, limit: PAGE, cursor: page.next_cursor }
      }
    },
    showResource: async (library, resource) => resourceRecord.parse(await ask(showResource, {}, { library, resource })),
    async readText({ id }, maxLength) {
      const resource = requireResource({ service, grant, id: () => id })
      const passages = service.tables.passages.from(resource.id, 0, Math.ceil(maxLength / SHORTEST_USUAL_PASSAGE))
      return {
        text: passages
          .map(({ text }) => text)
          .join('\n')
          .slice(0, maxLength),
      }
    },
    uploadFile: (upload) => uploadFile(service, grant, upload),
  }
}

async function uploadFile(service: Service, grant: Grant, upload: McpUpload) {
  const library = requireLibrary({ service, grant, id: () => upload.libraryId }, 'resource.create')
  const path = libraryPathInput.parse(upload.directoryPath)
  const directory = service.tables.directories.byPath(library.id, path)
  if (!directory) throw notFound(`The directory ${path}`)
  if (upload.bytes.length > service.maxUploadBytes) throw tooLarge('The file is larger than this instance takes')
  const receiver = new ContentReceiver(service.files.temporaryDir)
  try {
    receiver.take(Buffer.from(upload.bytes))
    await receiver.spill()
    const content = await receiver.finish()
    const recorded = await storeFile(service, { title: upload.fileName, mimeType: upload.mime, directory, content })
    if (!recorded) throw notFound('Library')
    return { id: recorded.id, duplicate: recorded.duplicate }
  } finally {
    await receiver.dispose()
  }
}
