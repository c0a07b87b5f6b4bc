import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const toolResult = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })),
})

/** A client of the official SDK, connected over HTTP until the test is over. */
export async function connectAgent(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

export interface ToolResponse {
  readonly isError: boolean
  /** The first text, parsed when it is JSON. */
  readonly value: Record<string, unknown>
  readonly texts: readonly string[]
}

export async function useTool(client: Client, name: string, args: Record<string, unknown> = {}): Promise<ToolResponse> {
  const { isError = false, content } = toolResult.parse(await client.callTool({ name, arguments: args }))
  const texts = content.map(({ text }) => text)
  return { isError, texts, value: isError ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(texts[0] ?? '')) }
}
