import type { z } from 'zod'
import {
  directoryPage,
  libraryPage,
  type ResourceRecord,
  resourceRecord,
  searchResponse,
} from '../../contract/records.ts'
import type { Grant } from '../access/grant.ts'
import { notFound, tooLarge } from '../http/api-error.ts'
import type { Question } from '../http/endpoint.ts'
import { libraryPathInput } from '../http/inputs.ts'
import { requireLibrary, requireResource } from '../http/require-access.ts'
import { listDirectory } from '../routes/list-directory.ts'
import { listLibraries } from '../routes/list-libraries.ts'
import { searchResources } from '../routes/search-resources.ts'
import { showResource } from '../routes/show-resource.ts'
import type { Service } from '../service-parts.ts'
import { ContentReceiver } from '../storage/content-receiver.ts'
import { storeFile } from '../storage/store-file.ts'
import type { FoundDocument, McpAccess, McpUpload } from './mcp-access.ts'

const PAGE = '500'
/** Passages have about 2,000 characters. */
const MIN_USUAL_PASSAGE = 200

/** The embedded library for agents, with the rights of a grant: each call asks what the HTTP interface would. */
export function accessOf(service: Service, grant: Grant): McpAccess {
  const ask = (question: Question, query: Readonly<Record<string, unknown>>, ids = {}) =>
    question.ask({ service, grant, query, ids })
  async function* pages<T extends { readonly next_cursor: string | null }>(
    question: Question,
    shape: z.ZodType<T>,
    query: Readonly<Record<string, string>>,
    ids = {},
  ) {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = shape.parse(await ask(question, { ...query, limit: PAGE, cursor }, ids))
      yield page
      cursor = page.next_cursor
    }
  }
  return {
    async *listLibraries() {
      for await (const { items } of pages(listLibraries, libraryPage, {})) yield* items
    },
    async search({ query, libraryIds, limit, allVersions }) {
      const versions = allVersions ? 'all' : 'current'
      const asked = { query, limit: String(limit), 'library_ids[]': libraryIds, versions }
      const { notice, results } = searchResponse.parse(await ask(searchResources, asked))
      return { notice, documents: results.map(({ resource }) => describeRecord(resource)) }
    },
    mayUpload: async () =>
      grant.abilities.includes('library.all.resource.create') ||
      service.tables.libraries.all().some((library) => grant.accessTo(library).includes('resource.create')),
    listDirectory: (library, path) => pages(listDirectory, directoryPage, { path }, { library }),
    showResource: async (library, resource) => resourceRecord.parse(await ask(showResource, {}, { library, resource })),
    async readText({ id }, maxLength) {
      const resource = requireResource({ service, grant, id: () => id })
      const passages = service.tables.passages.from(resource.id, 0, Math.ceil(maxLength / MIN_USUAL_PASSAGE))
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

function describeRecord(resource: ResourceRecord): FoundDocument {
  const { mime_type: type, size, created_at: date, superseded_by: supersededBy, earlier_versions: earlier } = resource
  return {
    resource,
    type: String(type),
    size: Number(size),
    date: String(date),
    version: supersededBy ? 'earlier' : 'current',
    localPath: null,
    formerPath: null,
    earlierVersions: earlier?.count ?? 0,
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
    const recorded = await storeFile(service, { fileName: upload.fileName, mimeType: upload.mime, directory, content })
    if (!recorded) throw notFound('Library')
    return { id: recorded.id, duplicate: recorded.duplicate }
  } finally {
    await receiver.dispose()
  }
}
