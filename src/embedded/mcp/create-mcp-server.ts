import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { LibrarySummary } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import type { FoundDocument, McpAccess } from './mcp-access.ts'

const INSTRUCTIONS =
  'A library of documents. Find documents with search, browse them with list_directory (without a library it lists the libraries), and read them with read_resource.'

/** Creates an MCP server with the tools search, list_directory and read_resource, and upload if the credential allows it. */
export async function createMcpServer(access: McpAccess, version: string, signal: AbortSignal): Promise<McpServer> {
  const server = new McpServer({ name: 'shelfd', title: 'Knowledge library', version }, { instructions: INSTRUCTIONS })
  addSearch(server, access)
  addListDirectory(server, access)
  addReadResource(server, access)
  if (await access.mayUpload(signal)) addUploadTool(server, access)
  return server
}

const MAX_CANDIDATES = 50
/** Bounds the JSON of one answer, because a model's context window is small. A cursor continues the list. */
const MAX_LISTED_BYTES = 100_000
const MAX_PATHS_BYTES = 10_000
const EXCERPT_LENGTH = 1_000
const WINDOW_LENGTH = 20_000
/** Longer texts are cut; an agent would need 200 calls to read this much. */
const MAX_TEXT_LENGTH = 4_000_000

const READS = { readOnlyHint: true, openWorldHint: false }
const library = z.string().min(1).max(512).describe('Identifier or exact name of a library')
/** Has a pattern, because JSON Schema has no other way to say how a string begins. */
const libraryPath = z.string().regex(/^\//, 'must begin with "/"').max(16_384)
const cursor = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a next_cursor')
  .default('0')
  .describe('The next_cursor of the previous answer, to get what follows it')

function addSearch(server: McpServer, access: McpAccess): void {
  const inputSchema = z.object({
    query: z.string().trim().min(1).max(1_000).describe('Words to look for'),
    library: library
      .optional()
      .describe('Search only this library (identifier or exact name); without it, all readable libraries'),
    limit: z.int().min(1).max(MAX_CANDIDATES).default(10).describe('The maximum number of candidates'),
    all_versions: z
      .boolean()
      .default(false)
      .describe('Also find earlier versions of documents, and documents whose files are gone'),
    cursor,
  })
  const description =
    'Finds the current versions of documents by their text and title. Results are candidates: check excerpts against the document.'
  server.registerTool(
    'search',
    { title: 'Search the library', description, inputSchema, outputSchema: foundShape, annotations: READS },
    async ({ query, limit, all_versions: allVersions, cursor: from, ...named }, { mcpReq: { signal } }) => {
      const libraryIds = named.library === undefined ? [] : [(await chooseLibrary(access, named.library, signal)).id]
      const { notice, documents } = await access.search({ query, libraryIds, limit, allVersions }, signal)
      const { listed, next } = await readPage(documents.map(describeHit), from)
      return jsonResult({ notice, results: listed, next_cursor: next })
    },
  )
}

const hitShape = z.object({
  resource: z.string(),
  title: z.string().optional(),
  library: z.unknown(),
  path: z.string().optional().describe('Its path in the library'),
  local_path: z.string().nullable().describe('The path of its file now on the computer that mirrors it'),
  former_path: z.string().nullable().describe('The path of its last file, or from which a moved file was uploaded'),
  type: z.string().nullable(),
  size: z.number().nullable().describe('In bytes'),
  date: z.string().nullable().describe('When its file was last changed; without a file, when it was added'),
  version: z.string().describe('current, waiting (its file has changed since), earlier, gone or left-out'),
  earlier_versions: z.number(),
  excerpts: z.array(z.string()),
})
const foundShape = z.object({ notice: z.string(), results: z.array(hitShape), next_cursor: z.string().optional() })

function describeHit({ resource, localPath, formerPath, earlierVersions, ...facts }: FoundDocument) {
  const { id, title, library, paths = [], assets = [] } = resource
  const excerpts = assets
    .map(({ excerpt, text }) => (excerpt ?? text ?? '').slice(0, EXCERPT_LENGTH))
    .filter((each) => each !== '')
  const location = { library, path: paths[0], local_path: localPath, former_path: formerPath }
  return { resource: id, title, ...location, ...facts, earlier_versions: earlierVersions, excerpts }
}

function addListDirectory(server: McpServer, access: McpAccess): void {
  const inputSchema = z.object({
    library: library.optional().describe('Identifier or exact name of a library; without it the libraries are listed'),
    path: libraryPath.default('/').describe('Directory in the library'),
    cursor,
  })
  const description = 'Lists the directories and documents in a directory of a library, or the libraries themselves.'
  server.registerTool(
    'list_directory',
    { title: 'List a directory', description, inputSchema, outputSchema: listingShape, annotations: READS },
    async ({ path, cursor: from, ...named }, { mcpReq: { signal } }) => {
      if (named.library === undefined) {
        const { listed, next } = await readPage(access.listLibraries(signal), from)
        const libraries = listed.map(({ id, name, access: rights }) => ({ id, name, rights }))
        return jsonResult({ libraries, next_cursor: next })
      }
      const { id } = await chooseLibrary(access, named.library, signal)
      const { listed, next } = await readPage(entriesOf(access, id, path, signal), from)
      const directories = listed.filter((entry) => typeof entry === 'string')
      const documents = listed.filter((entry) => typeof entry !== 'string')
      return jsonResult({ library: id, path, directories, documents, next_cursor: next })
    },
  )
}

const listingShape = z.object({
  libraries: z.array(z.object({ id: z.string(), name: z.string(), rights: z.array(z.string()) })).optional(),
  library: z.string().optional(),
  path: z.string().optional(),
  directories: z.array(z.string()).optional(),
  documents: z
    .array(z.object({ resource: z.string(), title: z.string(), filename: z.string(), type: z.string() }))
    .optional(),
  next_cursor: z.string().optional(),
})

/** Yields the directories of a directory as names, its documents as objects. */
async function* entriesOf(access: McpAccess, libraryId: string, path: string, signal: AbortSignal) {
  for await (const { folders, files } of access.listDirectory(libraryId, path, signal)) {
    for (const { name } of folders) yield name
    for (const { id, title, filename, mime_type: type } of files) yield { resource: id, title, filename, type }
  }
}

/** Collects entries from position `from` on until their JSON has `maxBytes`; `next` is the position of the next entry, if there is one. */
async function readPage<T>(entries: AsyncIterable<T> | Iterable<T>, from = '0', maxBytes = MAX_LISTED_BYTES) {
  const listed: T[] = []
  let position = 0
  let sizeBytes = 0
  for await (const entry of entries) {
    position += 1
    if (position <= Number(from)) continue
    sizeBytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    if (sizeBytes > maxBytes && listed.length > 0) return { listed, next: String(position - 1) }
    listed.push(entry)
  }
  return { listed, next: undefined }
}

function addReadResource(server: McpServer, access: McpAccess): void {
  const inputSchema = z.object({
    library,
    resource: z.string().min(1).max(512).describe('Identifier of the document, from search or list_directory'),
    offset: z
      .int()
      .min(0)
      .max(MAX_TEXT_LENGTH)
      .default(0)
      .describe('Position of the first character to read; to continue, the next_offset of the previous answer'),
  })
  const description = `Reads a document: its metadata, and ${WINDOW_LENGTH} characters of its text at a time.`
  server.registerTool(
    'read_resource',
    { title: 'Read a document', description, inputSchema, outputSchema: readShape, annotations: READS },
    async ({ resource, offset, ...named }, { mcpReq: { signal } }) => {
      const { id } = await chooseLibrary(access, named.library, signal)
      const record = await access.showResource(id, resource, signal)
      const { text, notice } = await access.readText(record, MAX_TEXT_LENGTH, signal)
      const end = offset + WINDOW_LENGTH
      const { title, ingestion_status: status, mime_type: type, size, created_at: added, superseded_by: newer } = record
      const { listed: paths } = await readPage(record.paths ?? [], '0', MAX_PATHS_BYTES)
      const known = { resource, title, paths, status, type, size, added, newer_version: newer ?? undefined }
      return jsonResult(
        { ...known, length: text.length, next_offset: end < text.length ? end : null, notice },
        text.slice(offset, end),
      )
    },
  )
}

const readShape = z.object({
  resource: z.string(),
  title: z.string().optional(),
  paths: z.array(z.string()),
  status: z.unknown(),
  type: z.unknown(),
  size: z.unknown(),
  added: z.unknown(),
  newer_version: z.string().optional().describe('The resource of the current version, if the service names it'),
  length: z.number(),
  next_offset: z.number().nullable(),
  notice: z.string().optional(),
})

const uploadInput = z
  .object({
    library,
    name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^/\\\0]+$/, 'must be a name without slashes')
      .describe('File name with extension'),
    text: z.string().optional().describe('The content, if it is text'),
    base64: z
      .string()
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
      .optional()
      .describe('The content in base64, if it is not text'),
    mime_type: z
      .string()
      .regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, 'must be a type such as text/plain')
      .optional()
      .describe('Default: text/markdown for .md, text/plain for other text, application/octet-stream for base64'),
    path: libraryPath.default(INBOX_PATH).describe('An existing directory of the library'),
  })
  .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), 'Give either text or base64')

const uploadShape = z.object({ resource: z.string(), library: z.string(), duplicate: z.boolean() })

function addUploadTool(server: McpServer, access: McpAccess): void {
  const description =
    'Adds a document to a library. Nothing is replaced: a content that the library has already only gets one more location. The document can be found after its processing.'
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
  server.registerTool(
    'upload',
    { title: 'Upload a document', description, inputSchema: uploadInput, outputSchema: uploadShape, annotations },
    async ({ name, path, text, base64 = '', mime_type: type, ...named }, { mcpReq: { signal } }) => {
      const { id: libraryId } = await chooseLibrary(access, named.library, signal)
      const bytes = text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text)
      const mime = type ?? defaultType(name, text !== undefined)
      const { id, duplicate = false } = await access.uploadFile(
        { libraryId, directoryPath: path, fileName: name, mime, bytes },
        signal,
      )
      return jsonResult({ resource: id, library: libraryId, duplicate })
    },
  )
}

function defaultType(name: string, isText: boolean): string {
  if (!isText) return 'application/octet-stream'
  return name.toLowerCase().endsWith('.md') ? 'text/markdown' : 'text/plain'
}

/** Returns the library with this identifier, or else with this exact name. Throws an Error that names the readable libraries. */
async function chooseLibrary(access: McpAccess, idOrName: string, signal: AbortSignal): Promise<LibrarySummary> {
  const libraries = await Array.fromAsync(access.listLibraries(signal))
  const found = libraries.find(({ id }) => id === idOrName) ?? libraries.find(({ name }) => name === idOrName)
  if (found) return found
  const names = libraries.slice(0, 20).map(({ name }) => `"${name}"`)
  throw new Error(`There is no library "${idOrName}" to read; readable libraries: ${names.join(', ') || 'none'}`)
}

/** Returns a structured result, with its JSON as a text for older clients, and `text` as a second text if there is one. */
function jsonResult(value: Record<string, unknown>, text?: string): CallToolResult {
  const json = JSON.stringify(value)
  const texts = [json, ...(text === undefined ? [] : [text])]
  return { structuredContent: JSON.parse(json), content: texts.map((each) => ({ type: 'text', text: each })) }
}
