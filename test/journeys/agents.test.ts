import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { useTool } from '../embedded/mcp/mcp-client.ts'
import { startLibrary } from '../embedded/temporary-library.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { MAIN } from '../support/run-shelfd.ts'

/** A desktop assistant that has `shelfd mcp` as the command of a server. */
async function assistantOf(home: Home): Promise<Client> {
  const client = new Client({ name: 'assistant', version: '1' })
  const server = { command: process.execPath, args: [MAIN, 'mcp'], env: home.env, cwd: home.path }
  await client.connect(new StdioClientTransport({ ...server, stderr: 'pipe' }))
  onTestFinished(() => client.close())
  return client
}

test('an assistant uses the embedded library over stdio', async () => {
  const home = homeWithPapers({
    'sails.md': '# Solar sails\n\nLight pushes a sail.\n',
    'page.html': '<p>A page of foxes</p>',
    'utf-16.txt': Buffer.from('\ufeffOwls: Käuze', 'utf16le'),
  })
  expect((await home.run(['sync', 'Papers'])).exitCode).toBe(0)
  const assistant = await assistantOf(home)
  expect((await assistant.listTools()).tools).toHaveLength(4)

  const { value } = await useTool(assistant, 'search', { query: 'sails', library: 'Papers' })
  const [hit] = hitsOf(value)
  expect(hit).toMatchObject({ title: 'sails.md', path: '/Papers/sails.md' })
  const read = await useTool(assistant, 'read_resource', { library: 'Papers', resource: hit?.resource })
  expect(read.texts[1]).toBe('# Solar sails\n\nLight pushes a sail.\n')

  const [page] = hitsOf((await useTool(assistant, 'search', { query: 'foxes' })).value)
  const readPage = await useTool(assistant, 'read_resource', { library: 'Papers', resource: page?.resource })
  expect([readPage.texts[1]?.trim(), readPage.value.notice]).toEqual([
    'A page of foxes',
    expect.stringContaining('there may be more'),
  ])

  const [owls] = hitsOf((await useTool(assistant, 'search', { query: 'owls' })).value)
  const readOwls = await useTool(assistant, 'read_resource', { library: 'Papers', resource: owls?.resource })
  expect([readOwls.texts[1]?.trim(), readOwls.value.notice]).toEqual([
    'Owls: Käuze',
    'Joined from 1 part that the service lists; there may be more',
  ])

  const document = { library: 'Papers', name: 'note.md', text: 'Of an assistant' }
  expect((await useTool(assistant, 'upload', document)).value).toMatchObject({ duplicate: false })
  const { value: inbox } = await useTool(assistant, 'list_directory', { library: 'Papers', path: '/.inbox' })
  expect(inbox.documents).toEqual([expect.objectContaining({ title: 'note.md', type: 'text/markdown' })])
  const wrong = await useTool(assistant, 'list_directory', { library: 'Paper' })
  expect(wrong).toMatchObject({ isError: true, texts: [expect.stringContaining('There is no library "Paper"')] })
})

test("an assistant uses a configured service with its token's rights", async () => {
  const { library, client } = await startLibrary()
  const id = await client.createLibrary()
  await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: 'A fox elsewhere' }))
  const assistant = await assistantOf(temporaryHome({ url: library.url, token: library.token }))
  expect(hitsOf((await useTool(assistant, 'search', { query: 'fox' })).value)).toMatchObject([{ title: 'a.txt' }])
  const refused = await assistantOf(temporaryHome({ url: library.url, token: 'kls_unknown' }))
  expect(await useTool(refused, 'search', { query: 'fox' })).toMatchObject({
    isError: true,
    texts: [expect.stringContaining('401 (credential refused)')],
  })
})

test('an assistant is told how many documents the service is still processing', async () => {
  const service = await startFaultyService({ library: 'Research' })
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'running' } : body)
  const home = temporaryHome(service)
  home.write('Papers', { 'a.md': 'Light pushes a sail.' })
  expect((await home.run(['sync', 'Papers', '--to', 'Research', '--wait-timeout', '100ms'])).exitCode).toBe(4)
  const { value } = await useTool(await assistantOf(home), 'search', { query: 'sail' })
  expect(value.notice).toContain('the service was still processing 1 document: a search may not find it yet')
})

test('no path with dots and no odd identifier of an assistant reaches the service [S-24]', async () => {
  const service = await startFaultyService({ library: 'Test' })
  const assistant = await assistantOf(temporaryHome(service))
  const library = 'Test'
  const asked: readonly (readonly [string, Record<string, unknown>])[] = [
    ...['/..', '/a/../b', '/./a', '//a'].map((path) => ['list_directory', { library, path }] as const),
    ...['..', '.', '..%2F..', '../x', 'a\r\nX: y'].map((resource) => ['read_resource', { library, resource }] as const),
    ['upload', { library, name: 'a.md', text: 'A', path: '/../x' }],
    ['search', { query: 'x', limit: 51 }],
    ['read_resource', { library, resource: 'r1', offset: 1e15 }],
  ]
  for (const [tool, args] of asked) {
    expect([tool, args, await useTool(assistant, tool, args)]).toEqual([
      tool,
      args,
      expect.objectContaining({ isError: true }),
    ])
  }
  const reached = service.requests.filter(({ route }) => route !== 'listLibraries' && route !== 'checkAccess')
  expect(reached.map(({ path }) => path)).toEqual([])
})

function hitsOf({ results }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(results) ? results : []
}
