import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeDirectory } from '../embedded/temporary-library.ts'
import { readOptions } from '../instruments/instrument.ts'
import { startTarget } from './embedded-target.ts'
import { OPTIONS } from './options.ts'
import { SENTENCES } from './sentences/all.ts'
import { Examination } from './suite/examination.ts'
import { type Finding, runSuite } from './suite/run-suite.ts'
import { samplesOf } from './suite/samples.ts'
import type { Sentence } from './suite/sentence.ts'
import type { Target } from './suite/target.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

type Json = Record<string, unknown>

/** A way in which a service breaks the interface. */
interface Fault {
  readonly name: string
  /** The section that the fault breaks; at least one of its assertions must fail. */
  readonly section: string
  readonly status?: (status: number, url: URL, init: RequestInit) => number
  readonly headers?: (headers: Headers, url: URL, init: RequestInit) => void
  readonly json?: (json: Json, url: URL) => unknown
}

const isListing = ({ pathname }: URL) => pathname.endsWith('/directory')
const mapHits = (json: Json, change: (resource: Json) => Json) => ({
  ...json,
  ...(Array.isArray(json.results) && {
    results: json.results.map(({ resource, ...hit }) => ({ ...hit, resource: change(resource) })),
  }),
})

const FAULTS: readonly Fault[] = [
  { name: 'identifiers are numbers', section: '2.1', json: (json) => ({ ...json, id: 7 }) },
  { name: 'the tenant has no slug', section: '2.2', json: (json) => ({ ...json, tenant: { id: 1, name: 'x' } }) },
  { name: 'the user has no e-mail address', section: '2.3', json: (json) => ({ ...json, user: { id: 1, name: 'x' } }) },
  { name: 'summaries have no rights', section: '2.4', json: (json) => ({ ...json, items: [{ id: 'x', name: 'x' }] }) },
  { name: 'libraries have no times', section: '2.5', json: ({ created_at: _, ...json }) => json },
  { name: 'a whole page is marked as truncated', section: '2.14', json: (json) => ({ ...json, truncated: true }) },
  { name: 'a new state of processing', section: '3.1', json: (json) => ({ ...json, ingestion_status: 'done' }) },
  { name: 'an unknown ability', section: '4.1', json: (json) => ({ ...json, abilities: ['all'] }) },
  { name: 'assets have no filename', section: '4.2', headers: (headers) => headers.delete('content-disposition') },
  { name: 'lifetimes are texts', section: '2.13', json: (json) => ({ ...json, expires_in_minutes: '15' }) },
  { name: 'changed signatures are taken', section: '2.13', status: (status) => (status === 401 ? 200 : status) },
  { name: 'any lifetime is taken', section: '4.5', status: (status) => (status === 422 ? 200 : status) },
  { name: 'pages have 20 libraries by default', section: '4.6', json: (json) => ({ ...json, limit: 20 }) },
  { name: 'the URL of a library is relative', section: '4.7', headers: (headers) => headers.set('location', '/x') },
  { name: 'deletions have a body', section: '4.9', status: (status) => (status === 204 ? 200 : status) },
  {
    name: 'folders are not sorted',
    section: '4.10',
    json: (json) => (Array.isArray(json.folders) ? { ...json, folders: json.folders.toReversed() } : json),
  },
  {
    name: 'the cursor leads to the first page',
    section: '4.10',
    json: (json, { searchParams }) =>
      searchParams.has('cursor') ? { ...json, next_cursor: null, truncated: false } : json,
  },
  {
    name: 'the URL of a directory is absolute',
    section: '4.11',
    headers: (headers) => headers.set('location', 'https://library.example/x'),
  },
  { name: 'a duplicate is a new resource', section: '4.12', status: (status) => (status === 200 ? 201 : status) },
  {
    name: 'uploads do not land in the inbox',
    section: '4.12',
    json: (json, url) => (isListing(url) ? { ...json, files: [] } : json),
  },
  { name: 'an unknown resource is empty', section: '4.13', status: (status) => (status === 404 ? 200 : status) },
  {
    name: 'compact results have an abstract',
    section: '4.14',
    json: (json) => mapHits(json, (resource) => ({ ...resource, abstract: 'x' })),
  },
  { name: 'results have no notice', section: '2.12', json: ({ notice: _, ...json }) => json },
  { name: 'nobody needs a credential', section: '5.1', status: (status) => (status === 401 ? 200 : status) },
  { name: 'agents may use the API', section: '5.4', status: (status) => (status === 403 ? 200 : status) },
  { name: 'errors are pages', section: '7', headers: (headers) => headers.set('content-type', 'text/html') },
  { name: 'errors have no text', section: '7', json: ({ message: _, ...json }) => json },
]

describe('the contract suite', () => {
  let target: Target
  beforeAll(async () => {
    const started = await startTarget()
    target = started.target
    return started.stop
  })

  test.each(FAULTS)('the contract suite notices that $name', async ({ section, ...fault }) => {
    const examination = new Examination({ ...target, fetch: (url, init) => askFaulty(fault, url, init) })
    const chosen = SENTENCES.filter((each) => each.section === section)
    const findings = await findingsOf(chosen, examination)
    expect(resultsOf(findings)).toContain('failed')
  })

  test('the contract suite sends nothing that writes unless allowed', async () => {
    const { target, stop } = await startTarget()
    onTestFinished(stop)
    const writer = new Examination(target)
    await samplesOf(writer).text()
    const sent: string[] = []
    const reader = new Examination({
      ...target,
      mayWrite: false,
      fetch: (url, init) => {
        sent.push(`${init.method ?? 'GET'} ${new URL(url).pathname.replace(/.*\//, '')}`)
        return fetch(url, init)
      },
    })
    const results = resultsOf(await findingsOf(SENTENCES, reader))
    expect(await reader.cleanUp()).toEqual([])
    await writer.cleanUp()
    expect(results).not.toContain('failed')
    expect(results.filter((result) => result === 'passed').length).toBeGreaterThan(90)
    expect(sent.filter((each) => !/^(GET|HEAD) |^POST view-urls$/.test(each))).toEqual([])
  })

  test('the contract suite deletes nothing that it has not made', async () => {
    const [one, other] = [new Examination(target), new Examination(target)]
    const { id } = await one.makeLibrary('kept')
    await expect(other.deleteLibrary(id)).rejects.toThrow('Not created by this run')
    expect(await one.cleanUp()).toEqual([])
  })

  test('each sentence without an assertion has a reason, in every section', () => {
    const hidden = SENTENCES.filter(({ assertions }) => assertions.length === 0)
    expect(hidden.filter(({ unobservable }) => !unobservable)).toEqual([])
    expect(new Set(SENTENCES.map(({ section }) => section.split('.')[0]))).toEqual(
      new Set(['2', '3', '4', '5', '6', '7', '8']),
    )
  })
})

test.each([
  [['--token-file', 'x'], '--url "" must be an origin'],
  [['--url', 'https://library.example'], '--token-file "" must name a file'],
  [['--url', 'http://library.example', '--token-file', 'x'], 'https unless it is this machine'],
  [['--url', 'https://library.example/api', '--token-file', 'x'], 'must be an origin'],
  [['--urll', 'x'], "Unknown option '--urll'"],
])('npm run contract refuses the options %j', (argv, message) => {
  expect(() => readOptions(OPTIONS, argv)).toThrow(message)
})

test('npm run contract prints a table and exits by its findings', async () => {
  const { target, stop } = await startTarget()
  const { directory, remove } = makeDirectory()
  const run = async (token: string) => {
    const file = join(directory, 'token')
    writeFileSync(file, token)
    const argv = [MAIN, '--url', target.url, '--token-file', file]
    return await promisify(execFile)(process.execPath, argv).catch(({ code, stdout }) => ({ code, stdout }))
  }
  const good = await run(target.tokens.owner)
  const bad = await run('of nobody')
  await stop()
  remove()
  expect(good).toMatchObject({ stdout: expect.stringMatching(/\d+ assertions of \d+ sentences: \d+ passed, 0 failed/) })
  expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('! answered with 401') })
})

async function askFaulty(fault: Partial<Fault>, url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init)
  const address = new URL(url)
  const headers = new Headers(answer.headers)
  fault.headers?.(headers, address, init)
  const status = fault.status?.(answer.status, address, init) ?? answer.status
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') && text !== ''
  const body = isJson && fault.json ? JSON.stringify(fault.json(JSON.parse(text), address)) : text
  headers.delete('content-length')
  return new Response([204, 304].includes(status) ? null : body, { status, headers })
}

async function findingsOf(sentences: readonly Sentence[], examination: Examination): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const finding of runSuite(sentences, examination)) findings.push(finding)
  return findings
}

function resultsOf(findings: readonly Finding[]): string[] {
  return findings.map(({ result }) => result)
}
