/** The dashboard that the command serves where no daemon runs. */
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serveDashboard } from '../dashboard/dashboard-client.ts'
import { configure } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { startRawServer } from '../support/network.ts'

const ALL = { classes: [], text: '', below: '', offset: 0 } as const
const ANYWHERE = { library: '', type: '', directory: '', allVersions: false } as const
const ALL_PROBLEMS = { text: '', cause: '', place: '', offset: 0 } as const

test('a mirror that is synced when it is named has its state, and a note', async () => {
  const home = temporaryHome()
  home.write('Notes', { 'a.md': 'A kestrel hovers.' })
  await home.sync(['Notes'])
  configure(home, { mirrors: [{ name: 'papers', path: home.write('Papers', {}) }] })
  const { live } = await serveDashboard(home)
  const event = await live()
  const mirror = event.kind === 'overview' ? event.overview.mirrors.find(({ name }) => name === 'Notes') : undefined
  expect(mirror).toMatchObject({
    state: { sign: '✓', text: expect.stringMatching(/^up to date .* · 1 file searchable$/) },
    details: [['note', 'synced only when it is named']],
  })
})

test('a path that cannot be sent is set aside, and brought back', async () => {
  const home = temporaryHome()
  const path = home.write('Papers', { 'big.bin': 'x'.repeat(2048) })
  configure(home, { mirrors: [{ name: 'papers', path, library: 'Papers', maxSize: '1KB' }] })
  await home.sync([])
  const { call } = await serveDashboard(home)
  const shown = async () => (await call('problems', ALL_PROBLEMS)).problems
  expect(await shown()).toMatchObject([{ path: 'big.bin', isSetAside: false, canSetAside: true, content: null }])
  const named = { contentIds: [], paths: [{ mirror: 'papers', path: 'big.bin' }] }
  expect(await call('setAside', named)).toEqual({ count: 1 })
  expect(await shown()).toMatchObject([{ isSetAside: true, canSetAside: false }])
  expect((await call('problems', ALL_PROBLEMS)).setAside).toBe(1)
  await call('retry', named)
  expect(await shown()).toMatchObject([{ isSetAside: false }])
})

test('without a daemon the command serves all of the dashboard', async () => {
  const home = homeWithPapers({ 'a.md': 'A kestrel hovers.', 'sub/broken.pdf': '%PDF-' })
  await home.sync(['Papers'])
  const { call, live, running } = await serveDashboard(home)

  home.write('Papers', { 'sub/b.md': 'A buzzard circles.' })
  await call('sync', { names: ['Papers'] })
  const classes = async () => (await call('rows', { mirror: 'Papers', ...ALL })).counts
  await expect.poll(classes, { timeout: 30_000 }).toEqual({ 'in-sync': 2, 'needs-attention': 1 })
  const overviewOf = async () => {
    const event = await live()
    return event.kind === 'overview' ? event.overview : undefined
  }
  await expect.poll(async () => (await overviewOf())?.mirrors[0]?.isSyncing, { timeout: 30_000 }).toBe(false)
  expect(await overviewOf()).toMatchObject({ daemon: null, mirrors: [{ name: 'Papers', files: { known: 3 } }] })

  const { results } = await call('search', { query: 'buzzard', ...ANYWHERE })
  const resourceId = results[0]?.resource.id ?? ''
  const file = join(home.path, 'Papers/sub/b.md')
  expect(results).toMatchObject([{ file, version: 'current', earlier: null }])
  // Without a desktop nothing is opened.
  expect(await call('openFile', { resourceId, folder: true })).toEqual({ isOpened: false, path: dirname(file) })
  await expect(call('openFile', { resourceId: '0'.repeat(32), folder: false })).rejects.toThrow(
    'No file on this computer has',
  )
  const below = await call('search', {
    ...ANYWHERE,
    query: 'buzzard kestrel',
    type: 'Markdown',
    directory: '/Papers/sub',
  })
  expect(below).toMatchObject({ results: [{ mime: 'text/markdown', size: 18 }], total: 1, isComplete: true })
  expect((await call('search', { ...ANYWHERE, query: 'buzzard', type: 'PDF' })).results).toEqual([])
  expect(await (await fetch((await call('openDocument', { resourceId })).url)).text()).toBe('A buzzard circles.')
  const { fields } = await call('why', { mirror: 'Papers', path: 'sub/b.md' })
  expect(Object.fromEntries(fields)).toMatchObject({ path: 'sub/b.md', state: 'stored', resource: resourceId })
  expect(await call('tree', { mirror: 'Papers', directory: '' })).toMatchObject({
    directories: [{ name: 'sub', counts: { 'in-sync': 1, 'needs-attention': 1 } }],
    files: [{ path: 'a.md' }],
  })
  const { settings } = await call('settings', {})
  expect(settings).toContainEqual({ key: 'limits.transfers', value: '32', origin: 'default' })
  expect(await call('log', {})).toEqual({ lines: null })
  expect((await call('timeline', { span: 'hour' })).sent.reduce((a, b) => a + b)).toBe(3)

  const { problems } = await call('problems', ALL_PROBLEMS)
  const contentIds = problems.flatMap(({ content }) => content?.contentId ?? [])
  expect(problems).toMatchObject([{ path: 'sub/broken.pdf', isSetAside: false }])
  expect(await call('setAside', { contentIds, paths: [] })).toEqual({ count: 1 })
  expect(await call('problems', ALL_PROBLEMS)).toMatchObject({ total: 1, setAside: 1, failed: 0 })
  await call('pause', { names: ['Papers'] })
  expect(await overviewOf()).toMatchObject({ mirrors: [{ isPaused: true, files: { setAside: 1 } }] })
  running.stop()
  expect((await running.ended).exitCode).toBe(0)
})

test('a path that leaves its mirror is refused [S-23]', async () => {
  const { call } = await serveDashboard(temporaryHome())
  for (const path of ['..', '../x', 'a/../../x', '/etc/passwd', './a.md']) {
    await expect(call('why', { mirror: 'Papers', path }), path).rejects.toThrow('is not a path in a mirror')
  }
  await expect(call('why', { mirror: 'Papers', path: 'a/b.md' })).rejects.toThrow('There is no mirror')
})

test('nothing mirrored yet is shown as nothing', async () => {
  const { call, live } = await serveDashboard(temporaryHome())
  expect(await live()).toMatchObject({ overview: { mirrors: [] } })
  expect(await call('problems', ALL_PROBLEMS)).toMatchObject({ total: 0, problems: [], causes: [] })
  await expect(call('rows', { mirror: 'none', ...ALL })).rejects.toThrow('Nothing of the mirror')
})

const SILENT = {
  'that refuses connections': async () => ({
    url: `http://127.0.0.1:${await freePort()}`,
    cause: /does not answer \(connection refused\)\. Trying (?:until [\d:]+|a few times); next try in \d+ s\.$/,
  }),
  'that accepts and stays silent': async () => ({
    url: `http://127.0.0.1:${(await startRawServer()).port}`,
    cause: /does not answer \(no answer yet for 3 s\)\. Trying until [\d:]+\.$/,
  }),
} as const

test.each(Object.keys(SILENT) as (keyof typeof SILENT)[])(
  'a service %s is named while a search and a sync wait',
  async (kind) => {
    const { url, cause } = await SILENT[kind]()
    const home = temporaryHome({ url, token: 'token' })
    const path = home.write('Papers', { 'a.md': 'A' })
    configure(home, { mirrors: [{ name: 'papers', path, library: 'Test' }], limits: { retryFor: '4s' } })
    const { call, live } = await serveDashboard(home)
    const troublesOf = async () => {
      const event = await live()
      return event.kind === 'overview' ? event.overview.troubles : undefined
    }
    expect(await troublesOf()).toEqual([])
    const leaving = new AbortController()
    const searched = call('search', { query: 'tide', ...ANYWHERE }, leaving.signal).catch(() => {})
    await expect.poll(troublesOf, { timeout: 20_000 }).toEqual([expect.stringMatching(cause)])
    leaving.abort()
    await searched
    await expect.poll(troublesOf).toEqual([])
    await call('sync', { names: ['papers'] })
    await expect.poll(troublesOf, { timeout: 20_000 }).toEqual([expect.stringMatching(cause)])
    const failureOf = async () => {
      const event = await live()
      return event.kind === 'overview' ? event.overview.mirrors[0]?.syncFailure : undefined
    }
    await expect.poll(failureOf, { timeout: 20_000 }).toMatch(new RegExp(`at ${url}: `))
    expect(await troublesOf()).toEqual([])
  },
)

test('mirrors that are synced at once take turns', async () => {
  const home = temporaryHome()
  const mirrors = ['Notes', 'Papers'].map((name) => ({ name, path: home.write(name, { 'a.md': name }), library: name }))
  configure(home, { mirrors })
  const { call, live } = await serveDashboard(home)
  await call('sync', { names: [] })
  const states = async () => {
    const event = await live()
    return event.kind === 'overview'
      ? event.overview.mirrors.map(({ files, syncFailure }) => [files.searchable, syncFailure])
      : []
  }
  await expect.poll(states, { timeout: 30_000 }).toEqual([
    [1, null],
    [1, null],
  ])
})

test('every one of 620 problems is on a page, by cause and directory', async () => {
  const home = temporaryHome()
  const large = Array.from({ length: 619 }, (_, n) => [`d${n % 7}/[${n}] large.bin`, 'x'.repeat(1_100 + 100 * n)])
  const path = home.write('Papers', { 'broken.pdf': '%PDF-', 'copy/broken.pdf': '%PDF-', ...Object.fromEntries(large) })
  configure(home, { mirrors: [{ name: 'papers', path, library: 'Papers', maxSize: '1KB' }] })
  await home.sync([])
  const { call } = await serveDashboard(home)
  const first = await call('problems', ALL_PROBLEMS)
  const cause = 'larger than maxSize; raise maxSize, or leave it out with an ignore rule [over-max-size]'
  expect(first).toMatchObject({ total: 620, causes: [{ key: cause, count: 619 }, { count: 1 }], failed: 1 })
  expect(first.places.map(({ count }) => count)).toEqual([89, 89, 89, 88, 88, 88, 88, 1])
  expect(first.morePlaces).toBe(1)
  const paths = new Set<string>()
  for (let offset = 0; offset < first.total; offset += 100) {
    const { problems } = await call('problems', { ...ALL_PROBLEMS, offset })
    for (const problem of problems) paths.add(problem.path)
  }
  expect(paths.size).toBe(620)
  const some = await call('problems', { text: 'LARGE', cause, place: 'papers: d3', offset: 0 })
  expect(some).toMatchObject({ total: 88, failed: 0 })
  const all = { text: '', cause: '', place: '' }
  expect(await call('retryAll', { ...all, place: 'papers: d3' })).toEqual({ count: 0 })
  expect(await call('retryAll', all)).toEqual({ count: 1 })
  for (const filter of [{ text: 'COPY/' }, { place: 'papers: copy' }, { place: 'papers: .' }]) {
    const { total, problems } = await call('problems', { ...ALL_PROBLEMS, ...filter })
    expect([total, problems]).toMatchObject([1, [{ content: { copies: ['papers: copy/broken.pdf'] } }]])
  }
  const last = await call('problems', { ...ALL_PROBLEMS, offset: 600 })
  expect((await call('problems', { ...ALL_PROBLEMS, offset: 700 })).problems).toEqual(last.problems)
  expect(some.problems[0]).toMatchObject({ path: 'd3/[101] large.bin', ignoreLine: '/d3/\\[101\\] large.bin' })
})

test('what is known of a file is shown also while the service is silent', async () => {
  const { service, home } = await homeOnService({ 'a.md': 'A' })
  await home.sync(['Papers', '--to', 'Research'])
  const { call } = await serveDashboard(home)
  const silent = new AbortController()
  service.onResponse = () => new Promise<void>((resolve) => silent.signal.addEventListener('abort', () => resolve()))
  onTestFinished(() => silent.abort())
  const { fields } = await call('why', { mirror: 'Papers', path: 'a.md' })
  expect(Object.fromEntries(fields)).toMatchObject({
    path: 'a.md',
    'in the library': 'the service has not answered yet',
  })
})
