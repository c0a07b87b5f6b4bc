import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { INBOX_PATH } from '../../contract/routes.ts'
import type { AgentAccess } from './agent-access.ts'
import { chooseLibrary } from './choose-library.ts'
import { jsonResult } from './tool-results.ts'

const inputSchema = z
  .object({
    library: z.string().min(1).max(512).describe('Identifier or exact name of a library'),
    name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^/\\\0]+$/, 'must be a name without slashes')
      .describe('File name with extension'),
    text: z.string().optional().describe('The content, if it is text'),
    base64: z.base64().optional().describe('The content in base64, if it is not text'),
    mime_type: z
      .string()
      .regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, 'must be a type such as text/plain')
      .optional()
      .describe('Such as application/pdf; text/markdown for .md, text/plain for other text'),
    path: z.string().startsWith('/').max(16_384).default(INBOX_PATH).describe('An existing directory of the library'),
  })
  .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), 'Give either text or base64')

/** Adds the tool `upload`. */
export function addUploadTool(server: McpServer, access: AgentAccess): void {
  const description =
    'Adds a document to a library. Nothing is replaced: the same content again only gains a further place. It can be found once it is processed.'
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
  server.registerTool(
    'upload',
    { title: 'Upload a document', description, inputSchema, annotations },
    async ({ name, path, ...given }, { mcpReq: { signal } }) => {
      const { id: libraryId } = await chooseLibrary(access, given.library, signal)
      const bytes = Buffer.from(given.text ?? given.base64 ?? '', given.text === undefined ? 'base64' : 'utf8')
      const mime = given.mime_type ?? defaultType(name, given.text !== undefined)
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
