import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import {
  directoryPage,
  libraryPage,
  type ResourceRecord,
  resourceRecord,
  searchResponse,
} from '../../contract/records.ts'
import { INTERFACE_VERSION } from '../../contract/routes.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Grant } from '../access/grant.ts'
import { fileTooLarge } from '../http/api-error.ts'
import type { QueryEndpoint } from '../http/endpoint.ts'
import { requireLibrary, requireResource } from '../http/require-access.ts'
import { listDirectory } from '../routes/directory-routes.ts'
import { listLibraries } from '../routes/library-routes.ts'
import { showResource } from '../routes/resource-routes.ts'
import { searchResources } from '../routes/search-resources.ts'
import { storeUpload } from '../routes/upload-file.ts'
import type { Service } from '../service-parts.ts'
import { ContentReceiver } from '../storage/content-receiver.ts'
import { createMcpServer } from './create-mcp-server.ts'
import type { FoundDocument, McpAccess, McpUpload } from './mcp-access.ts'

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/** Creates the endpoint for agents: the Model Context Protocol over HTTP, without sessions. */
export function createMcpEndpoint(service: Service) {
  const grants = new WeakMap<Request, Grant>()
  // Programs send no Origin. Web pages send their own; only pages of this machine and of the public URL are allowed.
  const origins = [...localhostAllowedOrigins(), ...(service.publicUrl ? [new URL(service.publicUrl).hostname] : [])]
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const grant = requestInfo && grants.get(requestInfo)
      if (!grant) throw new Error('The request of an agent has no grant')
      return createMcpServer(accessOf(service, grant), INTERFACE_VERSION, requestInfo.signal)
    },
    { onerror: (error) => service.logger.debug('A request of an agent was refused', { error: messageOf(error) }) },
  )
  return {
    /** Answers one request with the rights of a grant. */
    async answer({ method, url, headers, body }: FastifyRequest, grant: Grant, signal: AbortSignal): Promise<Response> {
      const request = new Request(new URL(url, 'http://localhost'), { method, headers: toHeaders(headers), signal })
      const refused = originValidationResponse(request, origins)
      if (refused) return refused
      grants.set(request, grant)
      // Fastify has read the body already. Without `parsedBody`, the SDK would read it again, and fail if it is empty.
      const response = await handler.fetch(request, { parsedBody: body ?? null })
      // The SDK sets "keep-alive" even if the client asked to close the connection, and the client would then wait for its end.
      response.headers.delete('connection')
      return response
    },
    close: () => handler.close(),
  }
}

function toHeaders(headers: FastifyRequest['headers']): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  )
}

const PAGE_SIZE = '500'
/** Bounds how many passages are read of a text. Most passages have about 2,000 characters. */
const MIN_PASSAGE_LENGTH = 200

/** Returns the access of agents to this library: the endpoints of the HTTP interface, with the rights of a grant. */
function accessOf(service: Service, grant: Grant): McpAccess {
  const call = (
    endpoint: QueryEndpoint,
    query: Readonly<Record<string, unknown>>,
    ids: Readonly<Record<string, string>> = {},
  ) => endpoint.answer({ service, grant, query, id: (name) => ids[name] ?? '' })
  async function* pages<T extends { readonly next_cursor: string | null }>(
    endpoint: QueryEndpoint,
    shape: z.ZodType<T>,
    query: Readonly<Record<string, string>>,
    ids = {},
  ) {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = shape.parse(await call(endpoint, { ...query, limit: PAGE_SIZE, cursor }, ids))
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
      const parameters = { query, limit: String(limit), 'library_ids[]': libraryIds, versions }
      const { notice, results } = searchResponse.parse(await call(searchResources, parameters))
      return { notice, documents: results.map(({ resource }) => describeRecord(resource)) }
    },
    mayUpload: async () =>
      grant.abilities.includes('library.all.resource.create') ||
      service.tables.libraries.all().some((library) => grant.accessTo(library).includes('resource.create')),
    listDirectory: (library, path) => pages(listDirectory, directoryPage, { path }, { library }),
    showResource: async (library, resource) =>
      resourceRecord.parse(await call(showResource, {}, { library, resource })),
    async readText({ id }, maxLength) {
      const resource = requireResource({ service, grant, id: () => id })
      const passages = service.tables.passages.from(resource.id, 0, Math.ceil(maxLength / MIN_PASSAGE_LENGTH))
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
  if (upload.bytes.length > service.maxUploadBytes) throw fileTooLarge()
  const content = new ContentReceiver(service.files.temporaryDir)
  content.add(Buffer.from(upload.bytes))
  const { fileName, mime: mimeType, directoryPath: path } = upload
  const form = { fileName, mimeType, charset: null, content, path }
  const { id, duplicate } = await storeUpload(service, library, form)
  return { id, duplicate }
}
