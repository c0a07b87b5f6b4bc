import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers } from '../support/home.ts'
import { readLibrary, titlesIn } from '../support/library-contents.ts'

const FILES = { 'bad.md': 'bad', 'good.md': 'good', 'sub/fine.md': 'fine' }

/** Faults of every upload of bad.md, and how a run without other faults ends. */
const FAULTS = [
  { fault: 'html-error', what: 'a 500', exitCode: 1, code: 'service-error' },
  { fault: 'html-page', what: 'a page of HTML with 200', exitCode: 1, code: 'answer-malformed' },
  { fault: 'unavailable', what: 'a 503', exitCode: 5, code: 'service-unavailable' },
  { fault: 'reset-before', what: 'a reset', exitCode: 5, code: 'service-unreachable' },
] as const

type UploadFault = (typeof FAULTS)[number]['fault']

/** A home whose service fails for every upload of bad.md and for nothing else. */
async function failingHome(fault: UploadFault): Promise<{ service: FaultyService; home: Home }> {
  const service = await startFaultyService({ library: 'Research' })
  service.fault = ({ fileName }) => (fileName === 'bad.md' ? fault : undefined)
  const home = homeWithPapers(FILES, service)
  return { service, home }
}

function countSends({ requests }: FaultyService, name: string): number {
  return requests.filter(({ fileName }) => fileName === name).length
}

/** Ends the quarantine of every content. */
function endQuarantines(home: Home): void {
  using store = openStore(home.stateDir)
  store.write(() => {
    for (const { contentId } of store.quarantine.list()) store.quarantine.makeDue(contentId)
  })
}

describe('uploads that always fail', () => {
  test.each(FAULTS)(
    'an upload that meets $what is sent twice, then a problem [P4, F-SV-13]',
    async ({ fault, exitCode, code }) => {
      const { service, home } = await failingHome(fault)
      const first = await home.sync(['Papers', '--to', 'Research'])
      expect(first.exitCode).toBe(exitCode)
      expect(first.mirror.uploads).toMatchObject({ created: 2, failed: 1, inDoubt: 0 })
      expect(first.mirror.problems).toMatchObject([{ path: 'bad.md', code, retryAt: expect.stringMatching(/^\d{4}-/) }])
      expect(countSends(service, 'bad.md')).toBe(2)
      expect(titlesIn(service)).toEqual(['fine.md', 'good.md'])

      // During its quarantine the content is neither sent nor looked for, and every run reports it.
      service.forget()
      const second = await home.sync(['Papers'])
      expect({ exitCode: second.exitCode, failed: second.mirror.uploads.failed }).toEqual({ exitCode, failed: 1 })
      expect(service.count('uploadFile') + service.count('listDirectory')).toBe(0)

      // After the quarantine follow one look and one further upload; the next quarantine is longer.
      endQuarantines(home)
      const third = await home.sync(['Papers'])
      expect(third.exitCode).toBe(exitCode)
      expect(countSends(service, 'bad.md')).toBe(1)
      const [before] = second.mirror.problems
      const [after] = third.mirror.problems
      expect(Date.parse(after?.retryAt ?? '')).toBeGreaterThan(Date.parse(before?.retryAt ?? '') + 60_000)
    },
  )

  test('report, why, failed and status show a failed upload', async () => {
    const { home } = await failingHome('html-error')
    await home.sync(['Papers', '--to', 'Research'])
    const report = await home.shelfd(['report', '--format', 'combined'])
    expect(report.stdout).toBe('! bad.md\n= good.md\n= sub/fine.md\n')
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(1)
    const { entries } = (await home.json(['report'])).mirrors[0]
    expect(entries[0]).toMatchObject({ class: 'needs-attention', reason: expect.stringMatching(/answered 500/) })
    const why = await home.shelfd(['why', 'Papers/bad.md'])
    expect(why.stdout).toMatch(/answered 500/)
    const failed = await home.json(['failed', 'list'])
    expect(failed.contents).toMatchObject([
      { stage: 'upload', code: 'service-error', tries: 1, since: expect.any(String) },
    ])
    const status = (await home.json(['status'])).mirrors[0]
    expect(status).toMatchObject({ files: { needAttention: 1, inDoubt: 0 }, problems: [{ path: 'bad.md' }] })
  })

  test('an upload that arrived after all is found by a look [P4]', async () => {
    const { service, home } = await failingHome('html-error')
    service.fault = ({ fileName }) => (fileName === 'bad.md' ? 'reset-after' : undefined)
    // The listing is late: it shows neither upload in this run.
    service.rewrite = ({ route }, body) => (route === 'listDirectory' ? { ...body, files: [] } : body)
    expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(5)
    expect(countSends(service, 'bad.md')).toBe(2)
    service.rewrite = (_, body) => body
    service.forget()
    endQuarantines(home)
    const { exitCode, mirror } = await home.sync(['Papers'])
    expect({ exitCode, uploads: mirror.uploads }).toMatchObject({ exitCode: 0, uploads: { created: 1, failed: 0 } })
    expect(service.count('uploadFile')).toBe(0)
  })

  test('failed retry sends a failed upload again at once', async () => {
    const { service, home } = await failingHome('unavailable')
    await home.sync(['Papers', '--to', 'Research'])
    service.fault = () => undefined
    await home.shelfd(['failed', 'retry', 'Papers/bad.md'])
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    expect(readLibrary(service.dataDir)).toHaveLength(3)
  })

  test('failed ignore ends both the uploads and the failure', async () => {
    const { service, home } = await failingHome('unavailable')
    await home.sync(['Papers', '--to', 'Research'])
    await home.shelfd(['failed', 'ignore', 'Papers/bad.md'])
    service.forget()
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(0)
  })

  test('a sync that people read shows a failed upload once', async () => {
    const { home } = await failingHome('html-error')
    const sync = async (...flags: string[]) => {
      const { stdout, stderr } = await home.shelfd(['sync', 'Papers', '--to', 'Research', ...flags])
      await home.shelfd(['failed', 'retry', '--all'])
      expect(stdout).toContain('! bad.md: ')
      return stderr
    }
    expect(await sync()).not.toContain('failed again')
    expect(await sync('-v')).toMatch(/debug an upload failed again.*bad\.md/)
    expect(await sync('--log-format', 'json')).toMatch(/"warn".*an upload failed again/)
  })

  test('every attempt of a failing upload counts towards the limits [P4]', async () => {
    const { service, home } = await failingHome('html-error')
    await home.sync(['Papers', '--to', 'Research', '--max-new-per-day', '4'])
    expect(service.count('uploadFile')).toBe(4)
    await home.shelfd(['failed', 'retry', '--all'])
    const { exitCode, mirror } = await home.sync(['Papers', '--max-new-per-day', '4'])
    expect({ exitCode, heldBack: mirror.uploads.heldBack }).toEqual({ exitCode: 1, heldBack: 1 })
    expect(service.count('uploadFile')).toBe(4)
  })

  test('a daemon with a failing upload reports no success', async () => {
    const { service, home } = await failingHome('html-error')
    configure(home, { mirrors: [{ name: 'papers', path: `${home.path}/Papers`, library: 'Research', settle: '50ms' }] })
    const daemon = await startDaemon(home)
    await daemon.until('two good files and two tries', () => service.count('uploadFile') >= 4)
    const { mirrors } = await daemon.until('a run that ended', ({ mirrors: [papers] }) => papers?.state === 'idle')
    expect(mirrors[0]?.lastSuccessAt).toBeNull()
    expect(countSends(service, 'bad.md')).toBe(2)
    const status = (await home.json(['status'])).mirrors[0]
    expect(status.problems).toMatchObject([{ path: 'bad.md', code: 'service-error' }])
    await home.shelfd(['failed', 'retry', '--all'])
    await daemon.until('a further try', () => countSends(service, 'bad.md') === 3)
    service.fault = () => undefined
    await home.shelfd(['failed', 'retry', '--all'])
    await daemon.until('success', ({ mirrors: [papers] }) => papers?.lastSuccessAt !== null)
    expect((await daemon.stop()).stderr).toMatch(/an upload failed again.*bad\.md.*answered 500/)
  })
})
