/** Commands, servers and a daemon that use one embedded library at the same time; each server is a process of its own. */
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { API_PREFIX, ROUTES } from '../../src/contract/routes.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import type { Running } from '../support/run-shelfd.ts'

/** Starts `serve` and resolves when it listens. */
async function startServer(home: Home, flags: readonly string[] = []): Promise<Running> {
  const server = home.start(['serve', '--json', ...flags])
  if (!server.child.stdout) throw new Error('It has no stdout')
  const hasEnded = server.ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
  await Promise.race([once(server.child.stdout, 'data'), hasEnded])
  return server
}

function holderOf(home: Home) {
  return JSON.parse(readFileSync(join(home.dataDir, 'holder'), 'utf8'))
}

async function titlesFound(home: Home, words: string): Promise<string[]> {
  const { results } = await home.json(['search', words])
  return results.map(({ resource }: { resource: { title: string } }) => resource.title)
}

describe('beside a server', () => {
  test('every command uses the library that a server has [F-PR-08]', async () => {
    const home = homeWithPapers({ 'a.md': 'pelican' })
    const server = await startServer(home)
    expect(statSync(join(home.dataDir, 'holder')).mode & 0o777).toBe(0o600)
    expect((await home.sync(['Papers'])).mirror.uploads.created).toBe(1)
    const id = (await home.json(['why', 'Papers/a.md'])).content.resourceId
    for (const words of [
      ['sync', '--report'],
      ['search', 'pelican'],
      ['report', '--check'],
      ['why', 'Papers/a.md'],
      ['libraries', 'list'],
      ['resource', 'show', id],
      ['resource', 'download', id, '-o', '-'],
      ['ls', 'Papers:/Papers'],
      ['whoami'],
      ['doctor'],
      ['serve', 'check'],
    ]) {
      expectExit(await home.shelfd(words), 0, /^(?!shelfd:)/, words.join(' '))
    }
    server.child.kill('SIGINT')
    expectExit(await server.ended, 0, '')
    expect(readdirSync(home.dataDir)).not.toContain('holder')
    expect(await titlesFound(home, 'pelican')).toEqual(['a.md'])
  })

  test('a daemon hands its library over to a server, and takes it back', async () => {
    const home = temporaryHome()
    const root = home.write('Papers', { 'a.md': 'pelican' })
    configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Papers', settle: '50ms' }] })
    const daemon = await startDaemon(home)
    const { pid } = daemon.child
    await expect.poll(() => holderOf(home)).toMatchObject({ pid, command: 'shelfd daemon' })
    await expect.poll(() => titlesFound(home, 'pelican')).toEqual(['a.md'])

    const server = await startServer(home)
    expect(holderOf(home)).toMatchObject({ pid: server.child.pid, command: 'shelfd serve', handOverUrl: null })
    writeFileSync(join(root, 'b.md'), 'heron')
    await expect.poll(() => titlesFound(home, 'heron')).toEqual(['b.md'])

    await server.kill()
    writeFileSync(join(root, 'c.md'), 'egret')
    await expect.poll(() => titlesFound(home, 'egret')).toEqual(['c.md'])
    expectExit(await daemon.stop(), 0, /^(?!.* error )/)
  })

  /** Configures one mirror and the daemon's address for its library. */
  function configureLibrary(home: Home, listen: string): void {
    const path = home.write('Papers', { 'a.md': 'pelican' })
    configure(home, { mirrors: [{ name: 'papers', path, library: 'Papers' }], library: { listen } })
  }

  async function pageAt(address: string): Promise<string> {
    const response = await fetch(`http://${address}/`, { headers: { accept: 'text/html' } }).catch(() => undefined)
    return (await response?.text()) ?? ''
  }

  test('a daemon shows its library to browsers at the address that it is told, and keeps it', async () => {
    const home = temporaryHome()
    const [first, second] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
    // Whoever has the library before hands it over.
    configure(home, { mirrors: [{ name: 'notes', path: home.write('Notes', { 'b.md': 'heron' }), library: 'Notes' }] })
    const before = home.start(['daemon', '--state-dir', join(home.path, 'other')])
    await expect.poll(() => existsSync(join(home.dataDir, 'holder'))).toBe(true)
    configureLibrary(home, first)
    const daemon = await startDaemon(home)
    expect(await pageAt(first)).toContain('<title>')
    expect(holderOf(home)).toMatchObject({ pid: daemon.child.pid, handOverUrl: null })
    before.child.kill('SIGINT')
    expectExit(await before.ended, 0, /^(?!.* error )/)
    await expect.poll(() => titlesFound(home, 'pelican')).toEqual(['a.md'])
    const token = readFileSync(join(home.dataDir, 'token'), 'utf8').trim()
    const answer = await fetch(`http://${first}${API_PREFIX}${ROUTES.checkAccess.path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(200)
    expectExit(await home.run(['serve']), 11, new RegExp(`process ${daemon.child.pid} \\(shelfd daemon`))

    configureLibrary(home, second)
    daemon.child.kill('SIGHUP')
    await expect.poll(() => pageAt(second)).toContain('<title>')
    expect(await pageAt(first)).toBe('')
    expectExit(await daemon.stop(), 0, /the library is served url=/)
  })

  test('a daemon whose address for the library is in use says so', async () => {
    const home = temporaryHome()
    const other = await startServer(home, ['--data-dir', join(home.path, 'other'), '--port', String(await freePort())])
    const { url } = JSON.parse(readFileSync(join(home.path, 'other', 'holder'), 'utf8'))
    const { host } = new URL(url)
    configureLibrary(home, host)
    const message = new RegExp(`Cannot serve the library on ${host}: another program uses this port`)
    expectExit(await home.run(['daemon']), 2, message)

    configureLibrary(home, `127.0.0.1:${await freePort()}`)
    const daemon = await startDaemon(home)
    configureLibrary(home, host)
    daemon.child.kill('SIGHUP')
    await daemon.logged(message)
    await daemon.stop()
    await other.kill()
  })

  test('commands that begin at the same moment all get the library', async () => {
    const home = temporaryHome()
    const running = Array.from({ length: 4 }, () => home.start(['whoami']))
    for (const { ended } of running) expectExit(await ended, 0, '')
  })

  test('a second server of the same library names the first one', async () => {
    const home = temporaryHome()
    const { child } = await startServer(home)
    expectExit(await home.shelfd(['serve']), 11, `is held by process ${child.pid} (shelfd serve, since `)
  })

  test('a server beyond loopback is reached on loopback', async () => {
    const home = homeWithPapers({ 'a.md': 'pelican' })
    await startServer(home, ['--host', '0.0.0.0'])
    expect(holderOf(home).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await home.sync(['Papers'])).mirror.uploads.created).toBe(1)
  })
})

describe.runIf(process.platform !== 'win32')('beside a process that cannot be asked', () => {
  test('a suspended server is named', async () => {
    const home = temporaryHome()
    const { child } = await startServer(home)
    child.kill('SIGSTOP')
    const { stderr } = expectExit(
      await home.shelfd(['whoami']),
      11,
      /which does not answer\n {2}wait until that process has ended, or stop it/,
    )
    expect(stderr).toContain(`held by process ${child.pid} (shelfd serve, since `)
    const status = await home.shelfd(['status'])
    expect(status.stdout).toMatch(
      /^daemon: not running\nshelfd serve: running for .* holds the library on this computer$/m,
    )
    expect(status.stdout).toContain(`(process ${child.pid})`)
  })

  test('what a killed server left misleads nobody', async () => {
    const home = temporaryHome()
    const server = await startServer(home)
    const { pid } = holderOf(home)
    await server.kill()
    expect(holderOf(home).pid).toBe(pid)
    expectExit(await home.shelfd(['whoami']), 0, '')
    expect(readdirSync(home.dataDir)).not.toContain('holder')
  })
})
