/** Commands beside the real daemon, a process of its own. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Home, temporaryHome } from '../support/home.ts'
import { type Running, runShelfd } from '../support/run-shelfd.ts'

const PATIENCE_MS = 30_000
const LOOK_AGAIN_MS = 50

/** Asks until `holds`; fails with the last answer when that takes too long. */
async function until<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain: ${JSON.stringify(answer)}`)
    await sleep(LOOK_AGAIN_MS)
  }
}

async function readStatus(home: Home) {
  const { stdout, stderr, exitCode } = await home.shelfd(['status', '--json'])
  if (stdout === '') throw new Error(`status printed nothing and ended ${exitCode}: ${stderr}`)
  return JSON.parse(stdout)
}

/** The daemon of a home with one mirror, which is killed with the test at the latest. */
async function startDaemon(home: Home): Promise<Running> {
  const running = runShelfd(['daemon'], { env: home.env, cwd: home.path })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  await until(
    () => readStatus(home),
    ({ daemon }) => daemon !== null,
  )
  return running
}

async function daemonHome() {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'pelican' })
  const config = `mirrors:\n  - { name: papers, path: "${root}", library: Papers, settle: 100ms }\n`
  home.write('config/shelfd', { 'config.yaml': config })
  return { home, root, daemon: await startDaemon(home) }
}

const isSearchable = (count: number) => (status: { mirrors: { files: { searchable: number } }[] }) =>
  status.mirrors[0]?.files.searchable === count

describe('commands and signals beside the daemon', () => {
  test('sync, report and search work beside the daemon [F-PR-08]', async () => {
    const { home, root } = await daemonHome()
    await until(() => readStatus(home), isSearchable(1))
    const outside = home.write('Outside', { 'b.md': 'heron' })
    const { exitCode, stderr, mirror } = await home.sync([outside])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(mirror.uploads.created).toBe(1)
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(0)
    expect((await home.shelfd(['search', 'heron'])).stdout).toContain('b.md')
    expect((await readStatus(home)).daemon.mirrors).toMatchObject([{ name: 'papers', path: root }])
  })

  test('every command works beside the daemon, but those that would hold the same data', async () => {
    const { home } = await daemonHome()
    await until(() => readStatus(home), isSearchable(1))
    const id = (await home.json(['why', 'Papers/a.md'])).content.resourceId
    const works = [
      ['sync'],
      ['sync', '--dry-run'],
      ['report', '--check'],
      ['status'],
      ['why', 'Papers/a.md'],
      ['failed', 'list'],
      ['history'],
      ['whoami'],
      ['libraries', 'list'],
      ['libraries', 'create', 'New'],
      ['libraries', 'show', 'New'],
      ['libraries', 'delete', 'New', '--confirm', 'New'],
      ['ls', 'Papers:/Papers'],
      ['mkdir', 'Papers:/further'],
      ['search', 'pelican'],
      ['resource', 'show', id],
      ['resource', 'url', id],
      ['resource', 'download', id, '-o', '-'],
      ['asset', 'url', `${id}.0`],
      ['asset', 'download', `${id}.0`, '-o', '-'],
      ['api', 'GET', '/v1/libraries'],
      ['mirrors', 'list'],
      ['mirrors', 'show', 'papers'],
      ['serve', 'tokens', 'create', 'agent', '--access', 'read'],
      ['serve', 'tokens', 'list'],
      ['serve', 'tokens', 'revoke', 'agent'],
      ['serve', 'check'],
      ['pause'],
      ['resume'],
      ['config', 'show'],
      ['bug-report'],
      ['dashboard', '--json'],
    ]
    for (const words of works) {
      const { exitCode, stderr } = await home.shelfd(words)
      expect({ words, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ words, exitCode: 0, stderr: '' })
    }
    for (const words of [['daemon'], ['serve', '--port', '0']])
      expect({ words, ...(await home.shelfd(words)) }).toMatchObject({
        words,
        exitCode: 11,
        stderr: expect.stringMatching(/^shelfd: .*(Another shelfd holds|served by another process)/),
      })
  })

  test('init has the running daemon read the configuration that it wrote', async () => {
    const { home } = await daemonHome()
    await until(() => readStatus(home), isSearchable(1))
    const notes = home.write('Notes', { 'n.md': 'heron' })
    const init = await home.shelfd(['init', '--embedded', 'Papers', 'Notes', '--yes', '--force'])
    expect(init.exitCode).toBe(0)
    expect(init.stderr).toContain('The running daemon has read it and keeps Papers, Notes up to date')
    expect(init.stderr).toMatch(/^Next: shelfd sync · shelfd doctor · shelfd status$/m)
    const { daemon } = await readStatus(home)
    expect(daemon.mirrors).toMatchObject([{ name: 'Papers' }, { name: 'Notes', path: notes }])
  })

  test('a pause holds uploads back until resume', async () => {
    const { home, root } = await daemonHome()
    await until(() => readStatus(home), isSearchable(1))
    expect((await home.shelfd(['pause', 'papers'])).exitCode).toBe(0)
    writeFileSync(join(root, 'new.md'), 'heron')
    const held = await until(
      () => readStatus(home),
      ({ mirrors, daemon }) => mirrors[0].queue.contents === 1 && daemon.mirrors[0].state === 'held',
    )
    expect(held.daemon.mirrors[0].reason.code).toBe('paused')
    expect((await home.shelfd(['resume'])).exitCode).toBe(0)
    await until(() => readStatus(home), isSearchable(2))
  })

  test('a killed daemon hinders neither a sync nor the next daemon', async () => {
    const { home, daemon } = await daemonHome()
    daemon.child.kill('SIGKILL')
    await daemon.ended
    expect(existsSync(join(home.stateDir, 'control'))).toBe(true)
    expect((await readStatus(home)).daemon).toBeNull()
    expect((await home.sync(['papers'])).exitCode).toBe(0)
    await startDaemon(home)
  })

  test('a daemon that ends in order removes its socket', async () => {
    const { home, daemon } = await daemonHome()
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ exitCode: 0 })
    expect(existsSync(join(home.stateDir, 'control'))).toBe(false)
  })
})
