import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createToken, type TokenSpec } from '../../../src/embedded/access/manage-tokens.ts'
import { startLibrary } from '../temporary-library.ts'
import { connectAgent, useTool } from './mcp-client.ts'

/** A library with a text and a directory, and an agent with all rights on it. */
async function libraryWithText() {
  const started = await startLibrary()
  const { client, library } = started
  const libraryId = await client.createLibrary()
  const text = `# Solar sails\n\n${'Light pushes a sail. '.repeat(2_000)}\n\nThe end of the text.\n`
  await client.call('POST', `/libraries/${libraryId}/directory`, { path: '/papers' })
  const resource = await client.uploaded(libraryId, {
    name: 'sails.md',
    type: 'text/markdown',
    content: text,
    path: '/papers',
  })
  await client.processed(libraryId, resource)
  return { ...started, libraryId, resource, text, agent: await connectAgent(library.url, library.token) }
}

const tokenOf = (dataDir: string, spec: Partial<TokenSpec>) =>
  createToken(dataDir, { name: crypto.randomUUID(), libraries: 'all', ...spec }, Date.now())

test('the agent endpoint offers its four tools with their parameters', async () => {
  const { library } = await startLibrary()
  const { tools } = await (await connectAgent(library.url, library.token)).listTools()
  const shapes = tools.map(({ name, inputSchema, annotations }) => [
    name,
    inputSchema.required ?? [],
    annotations?.readOnlyHint,
  ])
  expect(shapes.sort()).toEqual([
    ['list_directory', [], true],
    ['read_resource', ['library', 'resource'], true],
    ['search', ['query'], true],
    ['upload', ['library', 'name'], false],
  ])
})

test('the tools describe what they take and give in plain JSON Schema, and answer so', async () => {
  const { agent, libraryId, resource } = await libraryWithText()
  const { tools } = await agent.listTools()
  expect(tools.every(({ outputSchema }) => outputSchema?.type === 'object')).toBe(true)
  expect(JSON.stringify(tools)).not.toMatch(/"(?:format|contentEncoding)":/)
  for (const [name, args] of [
    ['search', { query: 'sails' }],
    ['list_directory', {}],
    ['list_directory', { library: libraryId, path: '/papers' }],
    ['read_resource', { library: libraryId, resource }],
    ['upload', { library: libraryId, name: 'a.bin', base64: 'AAE=' }],
  ] as const) {
    const { structuredContent, content } = await agent.callTool({ name, arguments: args })
    const [first] = content as { text: string }[]
    expect([name, structuredContent]).toEqual([name, JSON.parse(first?.text ?? '')])
  }
  const { value } = await useTool(agent, 'search', { query: 'sails' })
  const known = { type: 'text/markdown', date: expect.stringMatching(/^20\d\d-/), version: 'current', local_path: null }
  expect(value.results).toMatchObject([{ ...known, size: expect.any(Number), earlier_versions: 0 }])
})

test('an agent finds a document and reads all of it', async () => {
  const { agent, resource, libraryId, text } = await libraryWithText()
  const { value: found } = await useTool(agent, 'search', { query: 'solar sails', library: libraryId })
  expect(found.results).toEqual([
    expect.objectContaining({ resource, title: 'sails.md', path: '/papers/sails.md', excerpts: [expect.any(String)] }),
  ])
  let read = ''
  for (let offset: unknown = 0; offset !== null; ) {
    const { value, texts } = await useTool(agent, 'read_resource', { library: libraryId, resource, offset })
    expect(value).toMatchObject({ status: 'completed', paths: ['/papers/sails.md'] })
    expect(texts[1]?.length).toBeLessThanOrEqual(20_000)
    read += texts[1]
    offset = value.next_offset
  }
  expect(read.replaceAll(/\s+/g, ' ').trim()).toBe(text.replaceAll(/\s+/g, ' ').trim())
})

test('an agent walks from the libraries to a document', async () => {
  const { agent, resource, libraryId } = await libraryWithText()
  const { value: top } = await useTool(agent, 'list_directory')
  expect(top.libraries).toEqual([expect.objectContaining({ id: libraryId, rights: expect.arrayContaining(['read']) })])
  const { value: root } = await useTool(agent, 'list_directory', { library: libraryId })
  expect(root).toMatchObject({ path: '/', directories: ['.inbox', 'papers'], documents: [] })
  const { value: papers } = await useTool(agent, 'list_directory', { library: libraryId, path: '/papers' })
  expect(papers.documents).toEqual([{ resource, title: 'sails.md', filename: 'sails.md', type: 'text/markdown' }])
})

test('a document that an agent uploads is stored as any upload', async () => {
  const { agent, client, libraryId } = await libraryWithText()
  const document = { library: libraryId, name: 'document.md', text: 'A document of an agent', path: '/papers' }
  const { value: first } = await useTool(agent, 'upload', document)
  expect(first).toMatchObject({ library: libraryId, duplicate: false })
  expect((await useTool(agent, 'upload', document)).value).toMatchObject({ resource: first.resource, duplicate: true })
  const record = await client.processed(libraryId, String(first.resource))
  expect(record).toMatchObject({ title: 'document.md', mime_type: 'text/markdown', ingestion_status: 'completed' })
  const large = Buffer.alloc(3_000_000, 7)
  const blob = { library: libraryId, name: 'a.bin', base64: large.toString('base64') }
  const { value: stored } = await useTool(agent, 'upload', blob)
  const download = await client.fetch(`/resources/${stored.resource}`, { method: 'GET' })
  expect(Buffer.from(await download.arrayBuffer()).equals(large)).toBe(true)
})

test('an answer holds 100 KB at most, and a cursor names the rest', async () => {
  const { agent, client, libraryId } = await libraryWithText()
  const names = Array.from({ length: 300 }, (_, index) => `${String(index).padStart(3, '0')} ${'long '.repeat(90)}.txt`)
  for (const name of names) await client.uploaded(libraryId, { name, content: `${name} ${'heron '.repeat(400)}` })
  const walk = async (tool: string, args: Record<string, unknown>, member: string) => {
    const found: unknown[] = []
    let answers = 0
    for (let cursor: unknown; answers === 0 || cursor !== undefined; answers += 1) {
      const { value, texts } = await useTool(agent, tool, { ...args, ...(cursor !== undefined && { cursor }) })
      expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(101_000)
      found.push(...z.array(z.looseObject({ resource: z.string() })).parse(value[member]))
      cursor = value.next_cursor
    }
    return { titles: found.map((each) => z.looseObject({ title: z.string() }).parse(each).title), answers }
  }
  const listed = await walk('list_directory', { library: libraryId, path: '/.inbox' }, 'documents')
  expect(listed.titles.toSorted()).toEqual(names)
  expect(listed.answers).toBeGreaterThan(1)
  const found = await walk('search', { query: 'heron', limit: 50 }, 'results')
  expect(new Set(found.titles).size).toBe(50)
})

test('the agent endpoint refuses pages of other origins', async () => {
  const { library } = await startLibrary({ publicUrl: 'https://library.example' })
  const ask = async (origin: string) => {
    const headers = { ...headersOf(library.token), origin }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const answer = await fetch(new URL('/mcp', library.url), { method: 'POST', headers, body })
    await answer.body?.cancel()
    return [origin, answer.status]
  }
  for (const origin of ['https://elsewhere.example', 'null', 'https://library.example.elsewhere.example'])
    expect(await ask(origin)).toEqual([origin, 403])
  for (const origin of ['https://library.example', 'http://localhost:6274', 'http://127.0.0.1:80'])
    expect(await ask(origin)).toEqual([origin, 200])
})

test('mistakes of an agent are explained in words', async () => {
  const { agent, libraryId, resource } = await libraryWithText()
  for (const [tool, args, message] of [
    ['search', { query: 'x', library: 'None' }, 'There is no library "None" to read; readable libraries: "Library'],
    ['list_directory', { library: libraryId, path: '/none' }, 'Directory not found'],
    ['read_resource', { library: libraryId, resource: 'none' }, 'Resource not found'],
    ['read_resource', { library: libraryId, resource, offset: -1 }, 'offset'],
    ['upload', { library: libraryId, name: 'a/b', text: 'x' }, 'must be a name without slashes'],
    ['upload', { library: libraryId, name: 'a', text: 'x', path: '/none' }, 'The directory /none not found'],
    ['upload', { library: libraryId, name: 'a', text: 'x', base64: 'eA==' }, 'Give either text or base64'],
  ] as const) {
    const { isError, texts } = await useTool(agent, tool, args)
    expect([isError, texts[0]]).toEqual([true, expect.stringContaining(message)])
  }
})

test('an agent has the rights of its token, no more', async () => {
  const { client, dataDir, library, libraryId, resource } = await libraryWithText()
  const reader = await connectAgent(library.url, tokenOf(dataDir, { access: ['read'], interfaces: ['mcp'] }))
  expect((await useTool(reader, 'read_resource', { library: libraryId, resource })).isError).toBe(false)
  const { tools } = await reader.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual(['list_directory', 'read_resource', 'search'])
  const other = await client.createLibrary()
  const spec = { access: ['resource.create', 'read'], libraries: [other], interfaces: ['mcp'] } as const
  const writer = await connectAgent(library.url, tokenOf(dataDir, spec))
  const upload = (to: string) => useTool(writer, 'upload', { library: to, name: 'a.txt', text: 'x' })
  expect([(await upload(other)).isError, (await upload(libraryId)).isError]).toEqual([false, true])
  const blind = await connectAgent(
    library.url,
    tokenOf(dataDir, { abilities: ['library.create'], interfaces: ['mcp'] }),
  )
  expect((await useTool(blind, 'list_directory')).value).toEqual({ libraries: [] })
  expect((await useTool(blind, 'search', { query: 'sails' })).value.results).toEqual([])
})

test('the agent endpoint accepts only tokens for agents, by POST', async () => {
  const { dataDir, library } = await startLibrary()
  const ask = async (token: string | undefined, method = 'POST') => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(`${library.url}/mcp`, { method, headers, ...(method === 'POST' && { body: '{}' }) })
    return [answer.status, await answer.json()]
  }
  expect(await ask(undefined)).toEqual([401, { message: 'A credential is needed' }])
  expect(await ask('unknown')).toEqual([401, { message: 'The credential is not valid' }])
  const forApi = tokenOf(dataDir, { access: ['read'], interfaces: ['api'] })
  expect(await ask(forApi)).toEqual([403, { message: 'The credential lacks the right to use the interface "mcp"' }])
  expect((await ask(library.token, 'GET'))[0]).toBe(405)
})

test('what is no message of the protocol is refused with 400, also nothing', async () => {
  const { library } = await startLibrary()
  for (const body of ['', 'null', '[]', '"x"', '{"jsonrpc":"2.0"}']) {
    const answer = await fetch(new URL('/mcp', library.url), {
      method: 'POST',
      headers: headersOf(library.token),
      body,
    })
    expect([body, answer.status, await answer.json()]).toEqual([body, 400, expect.objectContaining({ jsonrpc: '2.0' })])
  }
})

test('the connection is closed for an agent that asks for it', async () => {
  const { library } = await startLibrary()
  const headers = { ...headersOf(library.token), connection: 'close' }
  const asked = request(new URL('/mcp', library.url), { method: 'POST', headers, agent: false })
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  expect([answer?.statusCode, answer?.headers.connection]).toEqual([200, 'close'])
  answer?.destroy()
})

const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
})
