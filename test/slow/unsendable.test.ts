/** Entries of a mirror that cannot be sent: every command reports them, with the same reason. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

function mirroredHome(tree: Readonly<Record<string, string>>) {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'a', ...tree })
  const config = `mirrors:\n  - { name: Papers, path: "${root}", library: Papers, maxSize: 1KB }\n`
  home.write('config/shelfd', { 'config.yaml': config })
  return { home, root }
}

const TOO_LARGE =
  'larger than maxSize (2.0 KiB, the limit is 1.0 KiB); raise maxSize, or leave it out with an ignore rule'

/** A socket lies at its path as long as somebody listens. */
async function listenAt(path: string): Promise<AsyncDisposable> {
  const server = createServer().listen(path)
  await once(server, 'listening')
  return {
    [Symbol.asyncDispose]: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

describe('files over maxSize', () => {
  test('a file over maxSize is a problem in summary, report and why [F-FS-16]', async () => {
    const { home } = mirroredHome({ 'big.bin': 'x'.repeat(2048) })
    const { exitCode, mirror } = await home.sync([])
    const problem = { path: 'big.bin', code: 'over-max-size', message: TOO_LARGE, retryAt: null }
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 1, problems: [problem] })
    expect(mirror.files).toMatchObject({ scanned: 1, ignored: 0, unsupported: 0 })
    expect((await home.shelfd(['sync'])).stdout).toContain(`big.bin: ${TOO_LARGE}`)
    for (const flags of [[], ['--offline']]) {
      const { exitCode: check, stdout } = await home.shelfd(['report', '--check', '--json', ...flags])
      const [report] = JSON.parse(stdout).mirrors
      expect({ check, counts: report.counts }).toEqual({ check: 1, counts: { 'in-sync': 1, 'needs-attention': 1 } })
      const row = { path: 'big.bin', class: 'needs-attention', reason: TOO_LARGE }
      expect(report.entries).toEqual(expect.arrayContaining([expect.objectContaining(row)]))
    }
    expect((await home.shelfd(['why', 'Papers/big.bin'])).stdout).toContain(TOO_LARGE)
    const status = await home.json(['status'])
    expect(status.mirrors[0].problems).toMatchObject([{ path: 'big.bin', code: 'over-max-size' }])
  })

  test('a file over maxSize recovers once it is small enough', async () => {
    const { home, root } = mirroredHome({ 'big.bin': 'x'.repeat(2048) })
    await home.sync([])
    writeFileSync(join(root, 'big.bin'), 'small')
    expect((await home.sync([])).exitCode).toBe(0)
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(0)
  })

  test('a file that grows over maxSize leaves its earlier version superseded', async () => {
    const { home, root } = mirroredHome({ 'big.bin': 'small' })
    expect((await home.sync([])).exitCode).toBe(0)
    writeFileSync(join(root, 'big.bin'), 'x'.repeat(2048))
    expect((await home.sync([])).exitCode).toBe(1)
    const { stdout } = await home.shelfd(['report', '--format', 'combined'])
    expect(stdout.trim().split('\n').sort()).toEqual(['! big.bin', '= a.md', '^ big.bin'])
  })
})

describe('problems of paths that were set aside', () => {
  test('a path that cannot be sent is set aside and fails no run, until that is undone', async () => {
    const { home } = mirroredHome({ 'big.bin': 'x'.repeat(2048), 'more/large.bin': 'y'.repeat(2048) })
    expect((await home.sync([])).exitCode).toBe(1)
    expect((await home.shelfd(['failed', 'ignore', 'Papers/big.bin'])).stderr).toContain('Set aside: 1 file')
    expect((await home.sync([])).mirror.problems).toMatchObject([{ path: 'more/large.bin' }])
    expect(await home.json(['failed', 'ignore', 'Papers'])).toEqual({ setAside: 1 })
    const { exitCode, mirror } = await home.sync([])
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 0, problems: [] })

    expect((await home.shelfd(['failed', 'list', '--all'])).stdout).toMatch(
      /more\/large\.bin +over-max-size .*set aside/,
    )
    const { contents, paths } = await home.json(['failed', 'list', '--all'])
    expect({ contents, paths }).toMatchObject({ contents: [], paths: [{ path: 'big.bin', isSetAside: true }, {}] })
    const why = await home.shelfd(['why', 'Papers/big.bin'])
    expect(why.stdout).toContain('as above [over-max-size], seen 3 times; set aside')
    const status = await home.shelfd(['status'])
    expect(status.stdout).toMatch(/set aside +2 paths that cannot be read or sent/)
    for (const flags of [[], ['--offline']]) {
      const report = await home.shelfd(['report', '--check', '--json', ...flags])
      const rows = JSON.parse(report.stdout).mirrors[0].entries
      expect({ flags, check: report.exitCode }).toEqual({ flags, check: 0 })
      expect(rows).toContainEqual(expect.objectContaining({ path: 'big.bin', reason: `set aside: ${TOO_LARGE}` }))
    }

    expect(await home.json(['failed', 'retry', 'Papers/big.bin'])).toEqual({ due: 1 })
    const again = await home.sync([])
    expect({ exitCode: again.exitCode, problems: again.mirror.problems }).toMatchObject({
      exitCode: 1,
      problems: [{ path: 'big.bin' }],
    })
  })

  test('a file that was set aside is sent once it can be', async () => {
    const { home, root } = mirroredHome({ 'big.bin': 'x'.repeat(2048) })
    await home.sync([])
    await home.shelfd(['failed', 'ignore', 'Papers/big.bin'])
    writeFileSync(join(root, 'big.bin'), 'small')
    const { exitCode, mirror } = await home.sync([])
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 1 })
    writeFileSync(join(root, 'big.bin'), 'x'.repeat(2048))
    expect((await home.sync([])).exitCode, 'a new problem').toBe(1)
  })

  test('a path without such a problem is refused, with what is known of it', async () => {
    const { home } = mirroredHome({})
    await home.sync([])
    expectExit(await home.shelfd(['failed', 'ignore', 'Papers/a.md']), 2, 'Cannot find "Papers/a.md" in the quarantine')
  })

  test('the daemon sets a path aside, and its runs count it no longer', async () => {
    const { home } = mirroredHome({ 'big.bin': 'x'.repeat(2048) })
    const daemon = await startDaemon(home)
    await daemon.until('scanned', isIdle)
    expect(await home.json(['failed', 'ignore', 'Papers/big.bin'])).toEqual({ setAside: 1 })
    const { problems, pathsSetAside } = (await home.json(['status'])).mirrors[0]
    expect({ problems, pathsSetAside }).toEqual({ problems: [], pathsSetAside: 1 })
  })
})

describe('pipes, sockets and devices', () => {
  test('a pipe, a socket and a device are counted and said, and fail nothing [F-FS-07]', async () => {
    const { home, root } = mirroredHome({})
    spawnSync('mkfifo', [join(root, 'pipe')])
    await using _socket = await listenAt(join(root, 'socket'))
    const devices = spawnSync('mknod', [join(root, 'device'), 'c', '1', '3']).status === 0 ? ['! device'] : []
    symlinkSync('a.md', join(root, 'link.md'))
    const { exitCode, summary, mirror } = await home.sync([])
    expect({ exitCode, verdict: summary.verdict, problems: mirror.problems }).toEqual({
      exitCode: 0,
      verdict: 'ok',
      problems: [],
    })
    expect(mirror.files).toMatchObject({ scanned: 1, ignored: 1, unsupported: 2 + devices.length })
    const again = await home.shelfd(['sync'])
    expect(again.exitCode).toBe(0)
    const kinds = 'pipes, sockets or devices, never sent; see shelfd report'
    expect(again.stdout).toContain(`  unsupported ${2 + devices.length} ${kinds}\n`)
    const check = await home.shelfd(['report', '--check'])
    expect(check).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('  ! pipe: unsupported: a pipe, which is never sent\n'),
    })
    const combined = await home.shelfd(['report', '--format', 'combined', '--only', 'needs-attention'])
    expect(combined.stdout.trim().split('\n').sort()).toEqual([...devices, '! pipe', '! socket'])
    const html = await home.shelfd(['report', '--format', 'html'])
    expect(html.stdout).toContain('The only file is searchable.')
    expect((await home.shelfd(['why', 'Papers/pipe'])).stdout).toContain('left out: a pipe, which is never sent')
    expect((await home.shelfd(['status'])).stdout).toContain('up to date')
  })

  test('a rule that leaves a pipe out makes it ignored', async () => {
    const { home, root } = mirroredHome({ '.shelfdignore': 'pipe\n' })
    spawnSync('mkfifo', [join(root, 'pipe')])
    const { mirror } = await home.sync([])
    expect(mirror.files).toMatchObject({ ignored: 2, unsupported: 0 })
    const { stdout } = await home.shelfd(['report', '--format', 'combined', '--only', 'ignored,needs-attention'])
    expect(stdout).toBe('i .shelfdignore\ni pipe\n')
  })

  test('a pipe beside a file without rights leaves the file a failure [F-FS-07]', async () => {
    const { home, root } = mirroredHome({})
    spawnSync('mkfifo', [join(root, 'pipe')])
    writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), 'a name that is not UTF-8')
    const { exitCode, mirror } = await home.sync([])
    expect({ exitCode, problems: mirror.problems }).toMatchObject({
      exitCode: 1,
      problems: [{ code: 'name-not-utf8' }],
    })
    expect(mirror.files).toMatchObject({ unsupported: 1 })
    const check = await home.shelfd(['report', '--check', '--format', 'json'])
    expect(check.exitCode).toBe(1)
    expect(JSON.parse(check.stdout).mirrors[0].counts).toEqual({ 'in-sync': 1, 'needs-attention': 2 })
  })

  test('a daemon is well beside a pipe, and says it once [F-FS-07]', { timeout: 180_000 }, async () => {
    const { service, home } = await homeOnService()
    const path = home.write('Papers', { 'a.md': 'a' })
    spawnSync('mkfifo', [join(path, 'pipe')])
    configure(home, { mirrors: [{ name: 'Papers', path, library: 'Research', settle: '100ms', maxSize: '1KB' }] })
    const daemon = await startDaemon(home)
    await daemon.until('the file is mirrored', () => service.count('uploadFile') === 1)
    spawnSync('mkfifo', [join(path, 'later')])
    home.write('Papers', { 'b.md': 'b' })
    await daemon.until('the second file is mirrored', () => service.count('uploadFile') === 2)
    await daemon.until('nothing is left to do', isIdle)
    expect((await home.shelfd(['status'])).stdout).toContain('up to date')
    expect(dumpStore(home.stateDir).problem ?? []).toEqual([])
    home.write('Papers', { 'big.bin': 'x'.repeat(2048) })
    await daemon.until('the large file is a problem', () => dumpStore(home.stateDir).problem?.length === 1)
    const codes = (await home.json(['status'])).mirrors[0].problems.map(({ code }: { code: string }) => code)
    expect(codes).toEqual(['over-max-size'])
    const { stderr } = await daemon.stop()
    expect(stderr.match(/left out pipes, sockets or devices/g)).toHaveLength(1)
  })
})
