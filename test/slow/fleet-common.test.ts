import { describe, expect, test } from 'vitest'
import { type Fleet, fleetOf } from '../support/fleet-of-hosts.ts'
import { needsPostgres } from '../support/postgres.ts'
import { manyFiles } from '../support/temporary.ts'

needsPostgres()

describe('what ingestion made of a file', () => {
  test('is polled by the host that sent it, and known to all [P5, P6]', async () => {
    await using fleet = await fleetOf()
    const ingestion = holdIngestion(fleet)
    const papers = manyFiles(12, 12)
    const [nas, laptop] = [await fleet.host('nas', papers), await fleet.host('laptop', papers)]
    const sending = nas.sync([])
    await expect.poll(() => fleet.service.count('uploadFile'), { timeout: 20_000 }).toBe(12)
    const waiting = laptop.sync([])
    await hasClaimed(fleet, 'laptop')
    ingestion.end()
    for (const { exitCode, mirror } of [await sending, await waiting])
      expect({ exitCode, ingestion: mirror.ingestion }).toMatchObject({ exitCode: 0, ingestion: { searchable: 12 } })
    expect(ingestion.finalAnswers()).toBe(12)
    expect((await laptop.shelfd(['report', '--check'])).exitCode).toBe(0)
  })

  test('is polled by one other host once the one that sent it is gone [P5]', async () => {
    await using fleet = await fleetOf()
    const ingestion = holdIngestion(fleet)
    const papers = manyFiles(12, 12)
    const nas = await fleet.host('nas', papers)
    expect(await nas.sync(['--no-wait'])).toMatchObject({ mirror: { uploads: { created: 12 } } })
    const others = [await fleet.host('laptop', papers), await fleet.host('pi', papers)]
    const runs = others.map((host) => host.sync([]))
    await hasClaimed(fleet, 'laptop')
    await hasClaimed(fleet, 'pi')
    ingestion.end()
    for (const { exitCode, mirror } of await Promise.all(runs))
      expect({ exitCode, mirror }).toMatchObject({ exitCode: 0, mirror: { ingestion: { searchable: 12 } } })
    expect(ingestion.finalAnswers()).toBe(12)
    // Whoever sent it polls again, and the ledger need not know why.
    expect(await nas.sync([])).toMatchObject({ exitCode: 0, mirror: { ingestion: { searchable: 12 } } })
  })

  test('is polled by a killed host no more: another one takes over after its lease', async () => {
    await using fleet = await fleetOf()
    const ingestion = holdIngestion(fleet)
    const papers = manyFiles(3, 3)
    const nas = await fleet.host('nas', papers)
    const killed = nas.start(['sync'])
    await expect
      .poll(async () => (await fleet.database.run('SELECT FROM shelfd.content')).length, { timeout: 20_000 })
      .toBe(3)
    await killed.kill()
    ingestion.end()
    const laptop = await fleet.host('laptop', papers)
    expect(await laptop.sync([])).toMatchObject({ exitCode: 0, mirror: { ingestion: { searchable: 3 } } })
    expect(fleet.service.count('uploadFile')).toBe(3)
  })

  test.each([
    [{ ingestion_status: 'failed', ingestion_error: 'no reader' }, 1, /no reader/],
    [{ ingestion_status: 'a state of next year' }, 1, /unknown ingestion state a state of next year/],
    [{ ingestion_status: 'completed', text_extracted: false }, 0, /without|no searchable text/],
  ])('has its message on each host: %j [P6]', async (answer, exitCode, message) => {
    await using fleet = await fleetOf()
    fleet.service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ...answer } : body)
    const [nas, laptop] = [await fleet.host('nas', { 'a.md': 'a' }), await fleet.host('laptop', { 'b.md': 'a' })]
    for (const host of [nas, laptop]) {
      expect((await host.sync([])).exitCode).toBe(exitCode)
      expect((await host.shelfd(['report'])).stdout).toMatch(message)
    }
    expect(fleet.service.count('uploadFile')).toBe(1)
  })
})

test('a claim that cannot be read stops nothing but its own file, which is named [S-30]', async () => {
  await using fleet = await fleetOf()
  await fleet.sync('pc', { 'first.md': 'first' })
  await fleet.database.run(`INSERT INTO shelfd.claim (library_id, sha256, mime, session_id, host_id, state, sent_to)
    SELECT c.library_id, sha256('odd'), c.mime, 0, c.host_id, 's', '{"no JSON"}' FROM shelfd.content c`)
  const nas = await fleet.host('nas', { 'a.md': 'a', 'odd.md': 'odd', 'z.md': 'z' })
  const { exitCode, stdout, stderr } = await nas.shelfd(['sync'])
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/sent +2 files/)
  const problem = 'Cannot upload "odd.md": shelfd cannot read what host "pc" recorded about it in the ledger'
  expect(stderr).toContain(problem)
  expect((await nas.json(['failed', 'list'])).contents).toMatchObject([
    { code: 'ledger-unusable', message: expect.stringContaining(problem), retryAt: expect.any(String) },
  ])
})

describe('a service that asks one host to wait', () => {
  test('is left alone by the others as well [P21]', async () => {
    await using fleet = await fleetOf()
    const [nas, laptop] = [await fleet.host('nas', { 'a.md': 'a' }), await fleet.host('laptop', { 'b.md': 'b' })]
    const held = fleet.service.holdUploads(1, 1)
    fleet.service.answer = ({ route, fileName }) =>
      route === 'uploadFile' && fileName === 'a.md'
        ? { status: 429, body: {}, headers: { 'retry-after': '3600' } }
        : undefined
    const waiting = laptop.start(['sync', '--retry-for', '3s'])
    await held.begun
    fleet.service.onUploadBegun = () => undefined
    expect((await nas.sync(['--retry-for', '1s'])).exitCode).toBe(5)
    await expect
      .poll(async () => (await fleet.database.run('SELECT FROM shelfd.service_wait')).length, { timeout: 20_000 })
      .toBe(1)
    laptop.write('Papers', { 'later.md': 'later' })
    held.release()
    await waiting.ended
    expect((await laptop.sync(['--retry-for', '1s'])).exitCode).toBe(5)
    expect(fleet.service.requests.map(({ fileName }) => fileName)).not.toContain('later.md')
  })
})

describe('what may be in ingestion', () => {
  test('is shared by the hosts that upload: the next one takes its part [P21]', async () => {
    await using fleet = await fleetOf()
    const ingestion = holdIngestion(fleet)
    const files = (name: string) => Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`${name}-${at}.md`, name + at]))
    const limits = { inIngestion: 4 }
    const [nas, laptop] = [await fleet.host('nas', files('n'), limits), await fleet.host('laptop', files('l'), limits)]
    const first = nas.sync([])
    await expect.poll(() => fleet.service.count('uploadFile'), { timeout: 20_000 }).toBe(4)
    const second = laptop.sync([])
    await expect.poll(() => fleet.service.count('uploadFile'), { timeout: 20_000 }).toBe(6)
    const beats =
      "SELECT FROM shelfd.session s JOIN shelfd.host h ON h.session_id = s.id WHERE h.name = 'laptop' AND s.beat > 3"
    await expect.poll(async () => (await fleet.database.run(beats)).length, { timeout: 20_000 }).toBe(1)
    expect(fleet.service.count('uploadFile')).toBe(6)
    ingestion.end()
    for (const run of [first, second])
      expect(await run).toMatchObject({ exitCode: 0, mirror: { uploads: { created: 6 } } })
  })
})

describe('a host with a limit of its own', () => {
  test('claims no more than it may send, so that others send the rest meanwhile', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', manyFiles(9, 9), { newPerRun: 2 })
    const laptop = await fleet.host('laptop', manyFiles(9, 9))
    const held = fleet.service.holdUploads(1, 2)
    const limited = nas.sync([])
    await held.begun
    fleet.service.onUploadBegun = () => undefined
    const rest = laptop.sync(['--no-wait'])
    await expect.poll(() => fleet.service.count('uploadFile'), { timeout: 20_000 }).toBe(7)
    held.release()
    expect(await limited).toMatchObject({ mirror: { uploads: { created: 2 } } })
    expect(await rest).toMatchObject({ mirror: { uploads: { created: 7 } } })
    expect(fleet.service.count('uploadFile')).toBe(9)
    expect((await nas.sync([])).exitCode).toBe(0)
  })
})

/** Answers that resources are in ingestion, until `end`. */
function holdIngestion({ service }: Fleet) {
  let isHeld = true
  let finalAnswers = 0
  service.rewrite = ({ route }, body) => {
    if (route !== 'showResource') return body
    if (isHeld) return { ...body, ingestion_status: 'running' }
    finalAnswers += 1
    return { ...body, ingestion_status: 'completed' }
  }
  return {
    end: () => {
      isHeld = false
    },
    finalAnswers: () => finalAnswers,
  }
}

async function hasClaimed({ database }: Fleet, host: string): Promise<void> {
  const text = 'SELECT FROM shelfd.session s JOIN shelfd.host h ON h.session_id = s.id WHERE h.name = $1 AND s.beat > 0'
  await expect.poll(async () => (await database.run(text, [host])).length, { timeout: 30_000 }).toBe(1)
}
