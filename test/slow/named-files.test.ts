/** -v, a dry run and the log of the daemon name each file that is or would be sent. */
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles } from '../support/temporary.ts'

const TREE = { 'a.md': 'pelican', 'notes/b.md': 'heron '.repeat(2_048), 'copy of a.md': 'pelican' }

function setUp(): Home {
  const home = homeWithPapers(TREE)
  return home
}

function fieldsOf(log: string, message: string): Record<string, unknown>[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message)
}

test('sync -n -v names each file that would be sent', async () => {
  const home = setUp()
  const { stderr } = expectExit(
    await home.shelfd(['sync', '-n', '-v', 'Papers']),
    0,
    /^Papers:\n {2}would send {2}a\.md \(7 B\)\n {2}would send {2}notes\/b\.md \(12 KiB\)\n/m,
  )
  expect(stderr).not.toContain('copy of a.md')
})

test('sync -n -v --json leaves one object on stdout', async () => {
  const home = setUp()
  const { stderr, stdout } = await home.shelfd(['sync', '-nv', 'Papers', '--json', '--log-format', 'json'])
  expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, mirrors: [{ uploads: { created: 2 } }] })
  expect(fieldsOf(stderr, 'would send')).toMatchObject([
    { level: 'debug', mirror: 'Papers', path: 'a.md', bytes: 7 },
    { level: 'debug', mirror: 'Papers', path: 'notes/b.md', bytes: 12_288 },
  ])
})

test('sync -n counts the files and points to -v', async () => {
  const home = setUp()
  const alone = await home.shelfd(['sync', '-n', 'Papers'])
  expect(alone.stderr).not.toContain('would send')
  expect(alone.stderr).toMatch(/-v names each of these 2 files\n$/)
  for (const flag of ['-v', '-q', '--json'])
    expect((await home.shelfd(['sync', '-n', flag, 'Papers'])).stderr).not.toContain('names each')
})

test('sync -v names each sent file with its resource', async () => {
  const home = setUp()
  const { stderr } = await home.shelfd(['sync', '-v', 'Papers'])
  const ids = readLibrary(home.dataDir).map(({ id }) => id)
  const named = [...stderr.matchAll(/^ {2}sent {2}(\S+) \(.*\) → (\S+)$/gm)].map(([, path, id]) => ({ path, id }))
  expect(named.map(({ path }) => path).sort()).toEqual(['a.md', 'notes/b.md'])
  expect(named.map(({ id }) => id).sort()).toEqual(ids.sort())
  expect((await home.shelfd(['sync', '-v', 'Papers'])).stderr).not.toContain('sent')
})

test('sync -v names each sent file through a daemon too', async () => {
  const home = setUp()
  configure(home, { mirrors: [{ name: 'other', path: home.write('Other', {}) }] })
  const daemon = await startDaemon(home)
  const { stderr } = await home.shelfd(['sync', '-v', 'Papers'])
  expect(stderr).toMatch(/^ {2}sent {2}notes\/b\.md \(12 KiB\) → \S+$/m)
  await daemon.stop()
})

describe('the log of the daemon', () => {
  test('the daemon logs sent files, and sums up a first pass', async () => {
    const home = temporaryHome()
    const path = home.write('Papers', manyFiles(100, 100))
    configure(home, { mirrors: [{ name: 'papers', path, settle: '0s' }] })
    const daemon = await startDaemon(home, { SHELFD_LOG_FORMAT: 'json' })
    await daemon.until('all is sent', isIdle)
    const { stderr } = await daemon.stop()
    const named = fieldsOf(stderr, 'sent')
    expect(named).toHaveLength(60)
    const stored = new Set(readLibrary(home.dataDir).map(({ id }) => id))
    for (const { path: file, resourceId, mirror, level } of named) {
      expect({ mirror, level }).toEqual({ mirror: 'papers', level: 'info' })
      expect(file).toMatch(/^d\d\/e\d\/file-\d+\.md$/)
      expect(stored).toContain(resourceId)
    }
    expect(fieldsOf(stderr, 'sent besides')).toMatchObject([{ mirror: 'papers', created: 40 }])
  })

  test('the daemon logs each pause, resume and sync of a client', async () => {
    const home = setUp()
    configure(home, { mirrors: [{ name: 'other', path: home.write('Other', {}) }] })
    const daemon = await startDaemon(home, { SHELFD_LOG_FORMAT: 'json' })
    for (const command of ['pause', 'resume', 'pause', 'resume']) await home.shelfd([command, 'other'])
    await home.shelfd(['pause'])
    await home.sync(['Papers'])
    const { stderr } = await daemon.stop()
    expect(fieldsOf(stderr, 'a client paused uploads').map(({ mirrors }) => mirrors)).toEqual([
      ['other'],
      ['other'],
      'all',
    ])
    expect(fieldsOf(stderr, 'a client resumed uploads')).toHaveLength(2)
    expect(fieldsOf(stderr, 'a client began a sync')).toMatchObject([{ mirrors: ['Papers'] }])
    expect(fieldsOf(stderr, 'the sync of a client has ended')).toMatchObject([{ mirrors: ['Papers'], outcome: 'done' }])
    expect(
      fieldsOf(stderr, 'sent')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['a.md', 'notes/b.md'])
  })

  test('the daemon logs only the changes of a reload', async () => {
    const home = setUp()
    const path = home.write('Mail', { 'c.md': 'gull', '.env': 'secret' })
    const mirror = { name: 'mail', path, settle: '0s' }
    configure(home, { mirrors: [mirror] })
    const daemon = await startDaemon(home, { SHELFD_LOG_FORMAT: 'json' })
    await daemon.until('all is sent', isIdle)
    const before = daemon.log().length
    const empty = home.write('Empty', {})
    configure(home, {
      mirrors: [
        { ...mirror, settle: '1s' },
        { name: 'empty', path: empty },
      ],
    })
    daemon.child.kill('SIGHUP')
    await daemon.logged('the configuration was read again')
    await daemon.until('both mirrors are idle', (status) => status.mirrors.length === 2 && isIdle(status))
    const lines = daemon.log().slice(before).trimEnd().split('\n')
    const changes = [`mirrors.empty was added: ${empty} → Empty:/Empty`, 'mirrors.mail.settleMs: 0 → 1000']
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: 'the configuration was read again', changes }])
    await daemon.stop()
  })
})
