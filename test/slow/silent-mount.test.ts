/** A mirror on a mount that does not answer, as of a network whose server is away: nothing else waits for it. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { type FuseMount, mountFuse } from '../support/fuse-mount.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'

const SILENT = 'does not answer: a network mount may be dead'
const PATIENT = { timeout: 60_000 }

/** A home with a mirror on its disk and one on a mount, both synced. */
async function syncedHome(): Promise<{ home: Home; net: FuseMount }> {
  const home = temporaryHome()
  home.write('Docs', { 'a.md': 'a local wombat' })
  const net = await mountFuse(join(home.path, 'Net'), { 'net.md': 'a numbat on the network' })
  const soon = { settle: '1s', pollInterval: '1s' }
  const mirrors = ['Docs', 'Net'].map((name) => ({ name: name.toLowerCase(), path: `~/${name}`, ...soon }))
  configure(home, { mirrors })
  expectExit(await home.run(['sync']), 0, '')
  net.takeRequests()
  return { home, net }
}

/** A home with a mount that has a file whose reading does not end. */
async function homeWithSlowFile(): Promise<{ home: Home; net: FuseMount }> {
  const home = temporaryHome()
  return { home, net: await mountFuse(join(home.path, 'Net'), { 'a.md': 'a potoroo', 'slow.md': null }) }
}

describe('a mount that does not answer', () => {
  test('is named by a sync, which goes on with the others [F-FS-31]', PATIENT, async () => {
    const { home, net } = await syncedHome()
    net.freeze()
    home.write('Docs', { 'b.md': 'a second quokka' })
    const { exitCode, stdout, stderr } = await home.run(['sync', '--json'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining(SILENT) })
    expect(JSON.parse(stdout).mirrors).toMatchObject([
      { name: 'docs', uploads: { created: 1 }, problems: [] },
      { name: 'net', problems: [{ code: 'root-unreadable' }] },
    ])
  })

  test('is not asked by a command that does not work on it [F-FS-31]', PATIENT, async () => {
    const { home, net } = await syncedHome()
    const commands = ['sync docs', 'sync Docs', 'config check', 'config set mirrors.docs.settle 2s', 'status']
    for (const command of [...commands, 'mirrors list', 'report docs --offline']) {
      const { exitCode } = await home.run(command.split(' '))
      expect({ command, exitCode, requests: net.takeRequests() }).toEqual({ command, exitCode: 0, requests: [] })
    }
  })

  test('is named by the doctor, which checks the others [F-FS-31]', PATIENT, async () => {
    const { home, net } = await syncedHome()
    net.freeze()
    const { exitCode, stdout } = await home.run(['doctor'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain(SILENT)
    expect(stdout).toContain('no mirror lies in another')
  })

  test.each([
    ['before it reads', syncedHome, 'statfs', 'net'],
    ['while it reads there', homeWithSlowFile, 'read', 'Net'],
  ] as const)('holds up no command that is interrupted %s [F-FS-31]', PATIENT, async (_, make, request, mirror) => {
    const { home, net } = await make()
    if (request === 'statfs') net.freeze()
    const requested = net.requested(request)
    const sync = home.start(['sync', mirror])
    await requested
    sync.child.kill('SIGINT')
    expect((await sync.ended).exitCode).toBe(130)
  })

  test('is named also when it stops to answer during a scan [F-FS-31]', PATIENT, async () => {
    const { home, net } = await homeWithSlowFile()
    const reads = net.requested('read')
    const sync = home.start(['sync', 'Net'])
    await reads
    net.freeze()
    await sync.logged(SILENT)
    // The kernel ends no process that has a file open there, by no signal either.
    net.thaw()
    expect((await sync.ended).exitCode).toBe(3)
  })

  test('keeps a daemon neither from the others nor from its end, and is tried again [F-FS-31]', PATIENT, async () => {
    const { home, net } = await syncedHome()
    const daemon = await startDaemon(home)
    await daemon.until('idle', isIdle)
    net.freeze()
    await daemon.until('halted', ({ mirrors }) => mirrors[1]?.reason?.message.includes(SILENT) === true)
    const before = (await daemon.status()).mirrors[0]?.lastScanAt
    home.write('Docs', { 'c.md': 'a third bilby' })
    await daemon.until(
      'the other mirror goes on',
      ({ mirrors }) => mirrors[0]?.state === 'idle' && mirrors[0].lastSuccessAt !== before,
    )
    net.thaw()
    await daemon.until('well again', isIdle)
    net.freeze()
    await daemon.until('halted again', ({ mirrors }) => mirrors[1]?.reason?.message.includes(SILENT) === true)
    expect((await daemon.stop()).exitCode).toBe(0)
    net.thaw()
    expect((await home.run(['search', '"bilby"', '--json'])).stdout).toContain('c.md')
  })
})
