/** Commands beside the real daemon, a process of its own. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'

/** A daemon whose only mirror has one file. */
async function daemonHome() {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'pelican' })
  configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Papers', settle: '100ms' }] })
  return { home, root, daemon: await startDaemon(home) }
}

async function untilSearchable(home: Home, count: number): Promise<void> {
  await expect.poll(async () => (await home.json(['status'])).mirrors[0]?.files.searchable).toBe(count)
}

describe('commands and signals beside the daemon', () => {
  test('every command works beside the daemon, but a second daemon', async () => {
    const { home } = await daemonHome()
    await untilSearchable(home, 1)
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
    expectExit(
      await home.shelfd(['daemon']),
      11,
      /^shelfd: The state in .* is held by process \d+ \(shelfd daemon, since \d\d:\d\d\)/,
    )
  })

  test('init has the running daemon read the configuration that it wrote', async () => {
    const { home } = await daemonHome()
    await untilSearchable(home, 1)
    const notes = home.write('Notes', { 'n.md': 'heron' })
    const init = await home.shelfd(['init', '--embedded', 'Papers', 'Notes', '--yes', '--force'])
    expect(init.exitCode).toBe(0)
    expect(init.stderr).toContain('The running daemon has read it and keeps Papers, Notes up to date')
    expect(init.stderr).toMatch(/^Next: shelfd sync · shelfd doctor · shelfd status$/m)
    const { daemon } = await home.json(['status'])
    expect(daemon.mirrors).toMatchObject([{ name: 'Papers' }, { name: 'Notes', path: notes }])
  })

  test('a killed daemon hinders neither a sync nor the next daemon', async () => {
    const { home, daemon } = await daemonHome()
    await daemon.kill()
    expect(existsSync(join(home.stateDir, 'control'))).toBe(true)
    expect((await home.json(['status'])).daemon).toBeNull()
    expect((await home.sync(['papers'])).exitCode).toBe(0)
    await startDaemon(home)
  })

  test('a daemon that ends in order removes its socket', async () => {
    const { home, daemon } = await daemonHome()
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
    expect(existsSync(join(home.stateDir, 'control'))).toBe(false)
  })
})
