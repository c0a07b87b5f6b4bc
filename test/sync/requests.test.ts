/** Which requests the engine makes, with any faults (P7). */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountOf, mirrorOf, startEngine } from '../support/engine.ts'
import { randomFaults, type SeenRequest } from '../support/faulty-service.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../support/temporary.ts'

/** The routes that the engine may use: some add, the others read. */
const ADDS = ['createLibrary', 'createDirectory', 'uploadFile']
const READS = ['checkAccess', 'listLibraries', 'showLibrary', 'listDirectory', 'showResource', 'downloadResource']

test('the engine makes only requests that read or add [P7]', async () => {
  const { service, tested } = await startEngine({})
  const root = writeTree(temporaryDirectory(), manyFiles(30, 20))
  const mirror = mirrorOf(root)
  const everything = async () => {
    await tested.sync([mirror], { acceptsRemovals: true })
    const { store } = tested
    store.write(() => store.quarantine.list().forEach(({ contentId }) => void store.quarantine.makeDue(contentId)))
  }
  let moving = 'd1/e1/file-1.md'
  for (let round = 0; round < 4; round += 1) {
    const atRandom = round === 3 ? () => undefined : randomFaults(round + 1, 0.2)
    // The first upload always loses its answer, so that the engine looks for it.
    const isFirstUpload = ({ route }: SeenRequest) => route === 'uploadFile' && service.count(route) === 1
    service.fault = (request) => (isFirstUpload(request) ? 'reset-after' : atRandom(request))
    await everything()
    writeFileSync(join(root, 'd0/e0/file-0.md'), `changed ${round}`)
    renameSync(join(root, moving), join(root, `moved-${round}.md`))
    moving = `moved-${round}.md`
    rmSync(join(root, 'd2'), { recursive: true, force: true })
  }
  await everything()
  await tested.report([mirror])
  const routes = new Set(service.requests.map(({ route }) => route))
  expect([...routes].filter((route) => ![...ADDS, ...READS, 'description'].includes(route))).toEqual([])
  expect([...routes]).toEqual(expect.arrayContaining(['downloadResource', ...ADDS]))
  const wrong = service.requests.filter(({ route, method }) => method !== (ADDS.includes(route) ? 'POST' : 'GET'))
  expect(wrong.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

test('a resource that its upload shows as searchable is not polled', async () => {
  const { service, tested, mirror } = await startEngine(manyFiles(12, 12), { service: { showsStateOfUploads: true } })
  const result = await tested.sync([mirror])
  expect(service.count('showResource')).toBe(0)
  expect(result.outcome).toBe('done')
  expect(accountOf(result).ingestion).toMatchObject({ searchable: 12, pending: 0 })
  const { rows } = await tested.report([mirror])
  expect(rows.map(({ entry }) => [entry.class, entry.ingestionStatus])).toEqual(
    Array(12).fill(['in-sync', 'completed']),
  )
})

test.each([
  { ingestion_status: 'completed_with_warnings', text_extracted: true },
  { ingestion_status: 'completed' },
  { ingestion_status: 'completed', text_extracted: false },
  { ingestion_status: 7, text_extracted: 'yes' },
])('a resource whose upload shows %j is polled', async (shown) => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
  service.rewrite = ({ route }, body) => (route === 'uploadFile' ? { ...body, ...shown } : body)
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(service.count('showResource')).toBe(1)
})
