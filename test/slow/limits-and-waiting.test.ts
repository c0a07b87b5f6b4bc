import { describe, expect, test } from 'vitest'
import type { DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { accountOf, startEngine } from '../support/engine.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'

const five = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`${number}.md`, `${number}`.repeat(10)]))

/** A service whose resources stay in this state. */
async function serviceStuckIn(status: unknown) {
  const { service, home } = await homeOnService()
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: status } : body)
  return { service, home }
}

/** Two mirrors of six files each, four of which may be in ingestion, which ends nothing while it `isStuck`. */
async function homeWithTwoMirrors() {
  const { home, service } = await homeOnService()
  const mirrors = ['one', 'two'].map((name) => {
    const tree = Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [`${number}.md`, `${name} ${number}`]))
    return { name, path: home.write(name, tree), library: 'Research', settle: '100ms' }
  })
  configure(home, { mirrors, limits: { inIngestion: 4 }, ingestion: { maxPoll: '100ms' } })
  const stuck = Object.assign(service, { isStuck: true })
  const inIngestion = new Set<string>()
  let most = 0
  service.rewrite = ({ route, path }, body) => {
    if (route === 'uploadFile') most = Math.max(most, inIngestion.add(String(body.id)).size)
    if (route !== 'showResource') return body
    if (stuck.isStuck) return { ...body, ingestion_status: 'running' }
    if (body.ingestion_status === 'completed') inIngestion.delete(path.split('/').at(-1) ?? '')
    return body
  }
  return { home, service: stuck, most: () => most }
}

describe('limits', () => {
  test('a limit holds back files that the next run sends [P14]', async () => {
    const { home, service } = await homeOnService()
    home.write('Papers', five)
    const first = await home.sync(['Papers', '--to', 'Research', '--max-new', '2'])
    expect(first.exitCode).toBe(8)
    expect(first.summary.verdict).toBe('incomplete')
    expect(first.mirror.uploads).toMatchObject({ created: 2, heldBack: 3 })
    const second = await home.sync(['Papers', '--to', 'Research', '--max-new', '2'])
    expect(second.exitCode).toBe(8)
    expect(second.mirror.uploads).toMatchObject({ created: 2, heldBack: 1 })
    const third = await home.sync(['Papers', '--to', 'Research', '--max-new', '2'])
    expect(third.exitCode).toBe(0)
    expect(third.mirror.uploads).toMatchObject({ created: 1, heldBack: 0 })
    expect(readLibrary(service.dataDir)).toHaveLength(5)
  })

  test('the limits of a run hold for all its mirrors together', async () => {
    const { home, service } = await homeOnService()
    const mirrors = ['one', 'two'].map((name) => {
      const tree = Object.fromEntries(Object.entries(five).map(([file, text]) => [file, `${name} ${text}`]))
      return { name, path: home.write(name, tree), library: 'Research' }
    })
    configure(home, { mirrors, limits: { newPerRun: 4, newBytesPerRun: 'none' } })
    const dry = await home.sync(['--dry-run'])
    const first = await home.sync([])
    const created = (run: typeof first) => run.summary.mirrors.map(({ uploads }) => [uploads.created, uploads.heldBack])
    expect([created(dry), created(first)]).toEqual([
      [
        [4, 1],
        [0, 5],
      ],
      [
        [4, 1],
        [0, 5],
      ],
    ])
    expect(first.exitCode).toBe(8)
    expect(readLibrary(service.dataDir)).toHaveLength(4)
    // Each content has 14 bytes, so that three fit, in any of the mirrors.
    const second = await home.sync(['--max-new', 'none', '--max-new-bytes', '42'])
    expect(created(second)).toEqual([
      [1, 0],
      [2, 3],
    ])
    expect(readLibrary(service.dataDir)).toHaveLength(7)
  })

  test('a limit is reported with its name and its end', async () => {
    const { home } = await homeOnService()
    home.write('Papers', five)
    const started = Date.now()
    const { mirror } = await home.sync(['Papers', '--to', 'Research', '--max-new-per-day', '3'])
    const [held] = mirror.uploads.heldBackBy
    expect(held).toMatchObject({ limit: 'newPerDay', value: 3, contents: 2 })
    expect(Date.parse(held?.freesAt ?? '')).toBeGreaterThanOrEqual(started + 24 * 3_600_000)
    expect(Date.parse(held?.freesAt ?? '')).toBeLessThan(Date.now() + 24 * 3_600_000)
    const text = /held back by limits\.newPerDay \(3 in 24 hours\); the limit allows more from \d{4}-/
    expect((await home.shelfd(['sync', 'Papers', '--max-new-per-day', '3'])).stdout).toMatch(text)
    expect((await home.shelfd(['report', '--only', 'local-only'])).stdout).toMatch(text)
    const [path] = (await home.json(['report', '--only', 'local-only'])).mirrors[0].entries
    expect((await home.shelfd(['why', `Papers/${path.path}`])).stdout).toMatch(text)
  })
})

describe('waiting for ingestion', () => {
  test('a run with --no-wait leaves ingestion to the next run [P5]', async () => {
    const { home } = await homeOnService()
    home.write('Papers', five)
    const first = await home.sync(['Papers', '--to', 'Research', '--no-wait'])
    expect(first.exitCode).toBe(0)
    expect(first.mirror.uploads.created).toBe(5)
    const second = await home.sync(['Papers'])
    expect(second.exitCode).toBe(0)
    expect(second.mirror.uploads).toMatchObject({ created: 0, duplicates: 0 })
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('waiting ends at its deadline, and nothing is sent again [P5]', async () => {
    const { service, home } = await serviceStuckIn('running')
    home.write('Papers', five)
    const first = await home.sync(['Papers', '--to', 'Research', '--wait-timeout', '100ms'])
    expect(first.exitCode).toBe(4)
    expect(first.mirror.ingestion).toMatchObject({ pending: 5, searchable: 0 })
    const second = await home.sync(['Papers', '--wait-timeout', '100ms'])
    expect(second.exitCode).toBe(4)
    expect(service.count('uploadFile')).toBe(5)
    const note = 'When last asked, the service was still processing 5 documents: a search may not find them yet\n'
    expect((await home.shelfd(['search', '1111111111'])).stderr).toContain(note)
    expect((await home.json(['search', '1111111111', '--library', 'Research'])).filter).toMatchObject({ processing: 5 })
    await home.shelfd(['libraries', 'create', 'Other'])
    expect((await home.json(['search', '1111111111', '--library', 'Other'])).filter).toMatchObject({ processing: 0 })
    service.rewrite = (_, body) => body
    const third = await home.sync(['Papers'])
    expect(third.exitCode).toBe(0)
    expect(third.mirror.ingestion).toMatchObject({ pending: 0, searchable: 5 })
    expect((await home.shelfd(['search', '1111111111'])).stderr).not.toContain('still processing')
    expect(service.count('uploadFile')).toBe(5)
  })

  test('a run of several mirrors never exceeds the limit of ingestion, also without waiting [P21]', async () => {
    const { home, service, most } = await homeWithTwoMirrors()
    const { mirrors } = (await home.sync(['--no-wait'])).summary
    expect(mirrors.map(({ uploads }) => uploads)).toMatchObject([
      { created: 4, heldBack: 2, heldBackBy: [{ limit: 'inIngestion' }] },
      { created: 0, heldBack: 6, heldBackBy: [{ limit: 'inIngestion' }] },
    ])
    service.isStuck = false
    expect((await home.sync([])).exitCode).toBe(0)
    expect([service.count('uploadFile'), most()]).toEqual([12, 4])
  })

  test('a daemon never exceeds the limit of ingestion over all its mirrors [P21]', async () => {
    const { home, service, most } = await homeWithTwoMirrors()
    const daemon = await startDaemon(home)
    const isFull = ({ inIngestion, uploading, mirrors }: DaemonStatus) =>
      inIngestion >= 4 && uploading === 0 && mirrors.every(({ lastScanAt }) => lastScanAt !== null)
    await daemon.until('ingestion is full', isFull)
    expect(service.count('uploadFile')).toBe(4)
    service.isStuck = false
    await daemon.until('all is sent', isIdle)
    expect([service.count('uploadFile'), most()]).toEqual([12, 4])
  })

  test('a run ends when no resource can be polled', async () => {
    const { service, tested, mirror } = await startEngine(five, { limits: { inIngestion: 2 } })
    service.answer = ({ route }) => (route === 'showResource' ? { status: 503, body: {} } : undefined)
    const first = await tested.sync([mirror])
    expect(first.outcome).toBe('temporary')
    expect(accountOf(first).problems.map(({ code }) => code)).toEqual(Array(5).fill('service-unavailable'))
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(5)
  })
})

test.each([
  ['partial', 'partial'],
  ['failed', 'failed'],
  ['archived', 'unknown'],
] as const)('a bad end of ingestion (%s) is reported by later runs too [P6]', async (status, outcome) => {
  const { service, home } = await serviceStuckIn(status)
  home.write('Papers', { 'a.md': 'A' })
  const first = await home.sync(['Papers', '--to', 'Research'])
  expect(first.exitCode).toBe(1)
  expect(first.mirror.ingestion).toMatchObject({ searchable: 0, [outcome]: 1 })
  expect(first.mirror.problems).toMatchObject([{ path: 'a.md', code: `ingestion-${outcome}` }])
  const second = await home.sync(['Papers'])
  expect(second.exitCode).toBe(1)
  expect(second.mirror.uploads).toMatchObject({ created: 0, duplicates: 0 })
  expect(second.mirror.problems).toMatchObject([{ path: 'a.md', code: `ingestion-${outcome}` }])
  expect(service.count('uploadFile')).toBe(1)
  const { stdout } = await home.shelfd(['report', '--format', 'combined'])
  expect(stdout).toBe('! a.md\n')
})
