import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './create-mcp-server.ts'
import { MAX_MESSAGE_BYTES, type McpAccess } from './mcp-access.ts'

export interface StdioOptions {
  readonly access: McpAccess
  readonly version: string
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: NodeJS.WritableStream
  readonly signal: AbortSignal
  readonly onError: (error: Error) => void
}

/** Serves the Model Context Protocol, one message a line, until the client closes stdin or `signal` is aborted. */
export async function serveOnStdio({ access, version, signal, onError, ...streams }: StdioOptions): Promise<void> {
  const stdin = Readable.from(readUntil(signal, streams.stdin))
  const stdout = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void streams.stdout.write(chunk, () => done()),
  })
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
  const server = serveStdio(() => createMcpServer(access, version, signal), { transport, onerror: onError })
  try {
    await finished(stdin, { writable: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await server.close()
  }
}

/** Yields what the source yields, and ends without an error if the source fails after `signal` was aborted. */
async function* readUntil(signal: AbortSignal, source: StdioOptions['stdin']): AsyncGenerator<Uint8Array | string> {
  try {
    yield* source
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
