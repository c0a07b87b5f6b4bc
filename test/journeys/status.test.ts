/** `status` without a daemon: why a run failed, how far a run is, and an answer even if the configuration is broken. */
import { spawnSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStoreReader } from '../../src/store/open-store.ts'
import { stateOfMirror } from '../../src/sync/report/mirror-state.ts'
import { readStatus } from '../../src/sync/report/status-of-mirrors.ts'
import { configure, daemonMirrorStatus } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

async function synced(home: Home = temporaryHome()) {
  const root = home.write('Papers', { 'a.md': 'A', 'b.md': 'B', 'c.md': 'C', 'd.md': 'D', 'e.md': 'E', 'f.md': 'F' })
  await home.shelfd(['sync', 'Papers'])
  return { home, root }
}

describe('status without a daemon', () => {
  test('status reports that no daemon runs and counts searchable files', async () => {
    const { home } = await synced()
    const { exitCode, stdout } = await home.shelfd(['status'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^daemon: not running\n/)
    expect(stdout).toMatch(/^Papers → Papers:\/Papers\n {2}✓ up to date .* · 6 files searchable\n/m)
    expect(stdout).not.toMatch(/to send|contents/)
  })

  test('commands of a host alone load nothing of a fleet', async () => {
    const { home } = await synced()
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) })`
    const imported = `data:text/javascript,${encodeURIComponent(hook)}`
    const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
    for (const command of ['status', 'history', 'failed']) {
      const { stderr, status } = spawnSync(process.execPath, ['--import', imported, main, command], {
        env: home.env,
        encoding: 'utf8',
      })
      expect({
        command,
        status,
        loaded: stderr.match(/\S*(?:cli\/commands\/|app\/fleet|ledger\/postgres\/|node_modules\/pg\/)\S*/g),
      }).toEqual({ command, status: 0, loaded: [expect.stringContaining(`/commands/${command}.ts`)] })
    }
  })

  test('status gives the reason of a halted run', async () => {
    const { home, root } = await synced()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      renameSync(join(root, `${name}.md`), join(home.path, `${name}.md`))
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(8)
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(/^ {2}✗ stopped .*: .*gone.* \[root-emptied\]$/m)
    const [mirror] = (await home.json(['status'])).mirrors
    expect(mirror.lastRun).toMatchObject({ verdict: 'failed', failure: { code: 'root-emptied' } })
  })

  test('status says when the last run ended and how, where something is left', async () => {
    const { home } = await synced()
    home.write('Papers', { 'new.md': 'G' })
    expect((await home.shelfd(['sync', 'Papers', '--max-new', '0'])).exitCode).toBe(8)
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(
      /^ {2}→ 1 file to send · 6 files searchable\n {2}to send .*\n {2}last run .*\d\d:\d\d, left something to do$/m,
    )
  })

  test('status gives the reason of a run that the service refused', async () => {
    const { service, home, root } = await homeOnService({ 'a.md': 'A' })
    configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Research' }] })
    service.answer = () => ({ status: 401, body: { message: 'No' } })
    expect((await home.shelfd(['sync'])).exitCode).toBe(7)
    const never = await home.shelfd(['status'])
    expect(never.stdout).toMatch(/^papers: .*\n {2}✗ stopped .* \[credential-refused\]$/m)
    service.answer = () => undefined
    await home.shelfd(['sync'])
    service.answer = () => ({ status: 401, body: { message: 'No' } })
    await home.shelfd(['sync'])
    expect((await home.shelfd(['status'])).stdout).toMatch(/^ {2}✗ stopped .* \[credential-refused\]$/m)
  })

  test('status shows no directory that never became a mirror', async () => {
    const { home } = await synced()
    home.write('.', { 'single.txt': 'one' })
    for (const directory of ['nosuchdir', 'single.txt', '/usr'])
      expect([3, 8]).toContain((await home.shelfd(['sync', directory])).exitCode)
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(/^Papers → /m)
    expect(stdout).not.toMatch(/nosuchdir|single|usr/)
    configure(home, { mirrors: [{ name: 'usr', path: join(home.path, 'other') }] })
    expect((await home.shelfd(['status'])).stdout, 'of another directory').toMatch(
      /^usr: .*other\n {2}! never synced$/m,
    )
  })

  test('a mirror that is synced when it is named is up to date, with a remark', async () => {
    const { service, home } = await homeOnService()
    configure(home, { mirrors: [{ name: 'papers', path: home.write('Papers', {}), library: 'Research' }] })
    const notes = home.write('Notes', { 'a.md': 'A' })
    expect((await home.shelfd(['sync', notes, '--to', 'Research:/Notes'])).exitCode).toBe(0)
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(
      /^Notes → Research:\/Notes\n {2}✓ up to date .* · 1 file searchable\n {2}note {2}synced only when it is named$/m,
    )
    service.answer = () => ({ status: 401, body: { message: 'No' } })
    expect((await home.shelfd(['sync', 'Notes'])).exitCode).toBe(7)
    expect((await home.shelfd(['status'])).stdout).toMatch(/^Notes → .*\n {2}✗ stopped .* \[credential-refused\]$/m)
    configure(home, { mirrors: [] })
    service.answer = () => undefined
    expect((await home.shelfd(['status'])).stdout).not.toContain('only when it is named')
  })

  test('status never calls uploads in doubt up to date', async () => {
    const { home, kill } = await duringLastUpload()
    await kill()
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(/^daemon: not running\npapers → /)
    expect(stdout).toMatch(/^ {2}! \d files?: not known whether (it|they) arrived; checked next run$/m)
    expect(stdout).toMatch(/^ {2}! cut off \(begun .*\); the same command continues from there · .*searchable$/m)
    expect(stdout).not.toMatch(/nothing|in doubt|up to date/)
    using reader = openStoreReader(home.stateDir)
    const [mirror] = reader ? readStatus(reader) : []
    if (!mirror) throw new Error('There is no mirror')
    // A doubt is listed beside the problems, and not counted with them.
    const state = stateOfMirror(mirror, daemonMirrorStatus(), Date.now())
    expect(state).toEqual({ sign: '!', text: expect.not.stringContaining('problem') })
  })
})

test('status shows percent and bytes during a sync', async () => {
  const { home, child, finish } = await duringLastUpload()
  await expect
    .poll(async () => (await home.shelfd(['status'])).stdout, { timeout: 30_000 })
    .toMatch(/^ {2}→ sending [1-7] of 8 files · \d\d % · \S+ (B|KiB) of 7\.8 KiB$/m)
  const { pid } = child
  const held = `is held by process ${pid} (shelfd sync, since `
  expectExit(await home.shelfd(['sync']), 11, held)
  const heldStatus = await home.shelfd(['status'])
  expect(heldStatus.stdout).toContain(`\nshelfd sync: running for `)
  expect(heldStatus.stdout).toContain(`(process ${pid}), holds the state\n`)
  expect(await home.json(['status'])).toMatchObject({
    holders: { state: { pid, command: 'shelfd sync' }, library: null },
    mirrors: [{ isRunning: true }],
  })
  await finish()
  expect((await home.shelfd(['status'])).stdout).not.toMatch(/sending|holds/)
})

test('status does not say that nothing was mirrored while a first sync begins', async () => {
  const { service, home } = await homeOnService({ 'a.md': 'a' })
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  service.onResponse = () => {
    asked.resolve()
    return answered.promise
  }
  const { ended } = home.start(['sync', 'Papers', '--to', 'Research'])
  await asked.promise
  const { stdout } = await home.shelfd(['status'])
  expect(stdout).toContain('holds the state')
  expect(stdout).not.toContain('Nothing was mirrored yet')
  answered.resolve()
  expect((await ended).exitCode).toBe(0)
})

/** A sync of eight files whose last upload ends only at `finish`. */
async function duringLastUpload() {
  const { service, home } = await homeOnService()
  const root = home.write(
    'Papers',
    Object.fromEntries([...'abcdefgh'].map((letter) => [`${letter}.md`, letter.repeat(1_000)])),
  )
  configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Research' }] })
  const { begun, release } = service.holdUploads(8)
  const { ended, kill, child } = home.start(['sync', '--transfers', '1', '--no-wait'])
  await begun
  const finish = async () => {
    release()
    await ended
  }
  return { home, kill, child, finish }
}

describe('status with a broken configuration', () => {
  test('status answers, then names the error of the configuration', async () => {
    const { home } = await synced()
    home.write('config/shelfd', { 'config.yaml': 'mirors: []\n' })
    const { exitCode, stdout, stderr } = await home.shelfd(['status'])
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(/^ {2}! not known whether it is configured · 6 files searchable$/m)
    expect(stdout).not.toMatch(/up to date/)
    expect(stderr).toMatch(/^shelfd: Cannot read the configuration: .*config\.yaml:1: unknown key "mirors"/)
    const json = await home.shelfd(['status', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      mirrors: [{ name: 'Papers', activity: null, inactive: null }],
      configurationError: { code: 'bad-configuration' },
    })
  })

  test('status finds the state by flag, variable or configuration', async () => {
    const home = temporaryHome()
    const elsewhere = join(home.path, 'elsewhere')
    await synced({ ...home, shelfd: (args) => home.shelfd([...args, '--state-dir', elsewhere]) })
    home.write('config/shelfd', { 'config.yaml': `stateDir: ${elsewhere}\nmirors: []\n` })
    expect((await home.shelfd(['status'])).stdout).toMatch(/6 files searchable/)
    home.write('config/shelfd', { 'config.yaml': 'mirrors: [\n' })
    expect((await home.shelfd(['status', '--state-dir', elsewhere])).stdout).toMatch(/6 files searchable/)
    expect((await home.shelfd(['status'], { SHELFD_STATE_DIR: elsewhere })).stdout).toMatch(/6 files searchable/)
  })
})
