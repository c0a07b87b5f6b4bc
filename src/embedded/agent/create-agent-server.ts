import { McpServer } from '@modelcontextprotocol/server'
import type { AgentAccess } from './agent-access.ts'
import { addReadingTools } from './reading-tools.ts'
import { addUploadTool } from './upload-tool.ts'

const INSTRUCTIONS =
  'A library of documents. Find documents by search, walk through them by list_directory (without a library it lists the libraries), and read them by read_resource.'

/** A server of the Model Context Protocol with the tools search, list_directory, read_resource and upload. */
export function createAgentServer(access: AgentAccess, version: string): McpServer {
  const server = new McpServer({ name: 'shelfd', title: 'Knowledge library', version }, { instructions: INSTRUCTIONS })
  addReadingTools(server, access)
  addUploadTool(server, access)
  return server
}
