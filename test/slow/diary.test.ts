import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { searchResponse } from '../../src/contract/records.ts'
import { serveDashboard } from '../dashboard/dashboard-client.ts'
import { connectAgent, useTool } from '../embedded/mcp/mcp-client.ts'
import { startLibrary } from '../embedded/temporary-library.ts'
import { expectExit, homeIn } from '../support/home.ts'
import { MAIN } from '../support/run-shelfd.ts'

const DAYS = 20
const textOf = (day: number) => `# Diary of the tides\n\n${'The tide. '.repeat(day % 7)}Day ${day}.\n`

describe('of a diary that was sent twenty times', () => {
  const place = mkdtempSync(join(tmpdir(), 'shelfd-diary-'))
  const home = homeIn(place)
  const papers = join(place, 'Papers')
  const diary = join(papers, 'diary.md')
  const save = async (day: number) => {
    writeFileSync(diary, textOf(day))
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  }
  afterAll(() => rmSync(place, { recursive: true }))
  // Beside it, a note is moved and another one goes.
  beforeAll(async () => {
    home.write('Papers', { 'moved.md': 'A note on the tide', 'gone.md': 'An old tide' })
    await save(1)
    rmSync(join(papers, 'gone.md'))
    mkdirSync(join(papers, 'kept'))
    renameSync(join(papers, 'moved.md'), join(papers, 'kept/moved.md'))
    for (let day = 2; day <= DAYS; day += 1) await save(day)
  }, 900_000)

  test('a search in the terminal shows the text of today, and where it is', async () => {
    const { stdout, stderr } = await home.shelfd(['search', 'diary tide'])
    expect(stdout).toMatch(/^1 {2}~\/Papers\/diary\.md\n {3}Markdown, .*, changed .* · Papers:\/Papers\/diary-20\.md\n/)
    expect(stdout).toContain('19 earlier versions, newest ')
    expect(stdout.match(/diary\.md\n/g)).toHaveLength(1)
    expect(stdout).toMatch(/2 {2}~\/Papers\/kept\/moved\.md\n.*\n {3}moved from ~\/Papers\/moved\.md\n/)
    expect(stdout).not.toContain('gone.md')
    expect(stderr).toContain('--all-versions')
    const opened = await home.shelfd(['open', '1'])
    expect([opened.stdout, opened.exitCode]).toEqual([`${diary}\n`, 0])
    expect((await home.shelfd(['open', 'diary.md', '--folder'])).stdout).toBe(`${papers}\n`)
    expectExit(await home.shelfd(['open', '37']), 2, '"37" lies in no mirror')
    const { results } = await home.json(['search', 'diary tide'])
    expect(results[0].resource.assets[0].text).toContain('Day 20.')
    expect(results[0].facts).toMatchObject({ version: 'current', files: [diary], earlierVersions: { count: DAYS - 1 } })
    const all = await home.json(['search', 'diary tide', '--all-versions', '--limit', '1000'])
    expect(all.results).toHaveLength(DAYS + 2)
  })

  test('the dashboard shows the text of today, with its file', async () => {
    const { call } = await serveDashboard(home)
    const anywhere = { library: '', type: '', directory: '' }
    const { results } = await call('search', { query: 'diary tide', ...anywhere, allVersions: false })
    expect(results).toMatchObject([
      { file: diary, version: 'current', earlier: { count: DAYS - 1 } },
      { file: join(papers, 'kept/moved.md'), formerFile: join(papers, 'moved.md') },
    ])
    const { results: all } = await call('search', { query: 'diary tide', ...anywhere, allVersions: true })
    expect(all.filter(({ version }) => version === 'earlier').length).toBeGreaterThan(0)
  })

  test('an assistant gets the text of today first, with its file', async () => {
    const client = new Client({ name: 'assistant', version: '1' })
    const server = { command: process.execPath, args: [MAIN, 'mcp'], env: home.env, cwd: home.path }
    await client.connect(new StdioClientTransport({ ...server, stderr: 'pipe' }))
    onTestFinished(() => client.close())
    const { value } = await useTool(client, 'search', { query: 'diary tide' })
    expect(value.results).toMatchObject([
      { local_path: diary, version: 'current', size: textOf(DAYS).length, earlier_versions: DAYS - 1 },
      { local_path: join(papers, 'kept/moved.md'), former_path: join(papers, 'moved.md') },
    ])
  })

  test('what went back to an earlier text is found with that text', async () => {
    await save(DAYS / 2)
    const { results } = await home.json(['search', 'diary tide'])
    expect(results[0].facts).toMatchObject({ version: 'current', files: [diary] })
    expect(results[0].resource.title).toBe('diary.md')
    expect(results).toHaveLength(2)
    await save(DAYS)
  })
})

test('who does not know the state finds the newest version of each document', async () => {
  const { library, client } = await startLibrary()
  const id = await client.createLibrary()
  await client.call('POST', `/libraries/${id}/directory`, { path: '/Papers' })
  for (let day = 1; day <= DAYS; day += 1) {
    const content = textOf(day)
    await client.uploaded(id, { name: 'diary.md', type: 'text/markdown', content, path: '/Papers' })
  }
  await library.settled()
  const asked = new URLSearchParams({ query: 'tide', limit: '100', versions: 'current' })
  const { results } = searchResponse.parse((await client.get(`/search/resources?${asked}`)).json)
  expect(results.map(({ resource }) => resource.paths?.[0])).toEqual(['/Papers/diary-20.md'])
  const agent = await connectAgent(library.url, library.token)
  const { value } = await useTool(agent, 'search', { query: 'tide', library: id })
  expect((value.results as object[])[0]).toMatchObject({
    path: '/Papers/diary-20.md',
    version: 'current',
    earlier_versions: DAYS - 1,
  })
}, 60_000)
