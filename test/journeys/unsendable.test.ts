/** Entries of a mirror that cannot be sent: every command reports them, with the same reason. */
import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'

function mirroredHome(tree: Readonly<Record<string, string>>) {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'a', ...tree })
  const config = `mirrors:\n  - { name: Papers, path: "${root}", library: Papers, maxSize: 1KB }\n`
  home.write('config/shelfd', { 'config.yaml': config })
  return { home, root }
}

const TOO_LARGE =
  'larger than maxSize (2.0 KiB, the limit is 1.0 KiB); raise maxSize, or leave it out with an ignore rule'
const PIPE = "a pipe, which can't be sent; leave it out with an ignore rule"

describe('files over maxSize', () => {
  test('a file over maxSize is a problem in summary, report and why', async () => {
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
    const status = JSON.parse((await home.shelfd(['status', '--json'])).stdout)
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

describe('pipes', () => {
  test('a pipe fails sync and check until a rule ignores it', async () => {
    const { home, root } = mirroredHome({})
    spawnSync('mkfifo', [join(root, 'pipe')])
    symlinkSync('a.md', join(root, 'link.md'))
    const { exitCode, mirror } = await home.sync([])
    const problem = { path: 'pipe', code: 'unsupported', message: PIPE, retryAt: null }
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 1, problems: [problem] })
    expect(mirror.files).toMatchObject({ ignored: 1, unsupported: 1 })
    const check = await home.shelfd(['report', '--check'])
    expect(check).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(`! pipe: ${PIPE}`) })
    writeFileSync(join(root, '.shelfdignore'), 'pipe\n')
    expect((await home.sync([])).exitCode).toBe(0)
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(0)
  })

  test('a daemon reports a pipe and a too large file', { timeout: 180_000 }, async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = temporaryHome(service)
    const path = home.write('Papers', { 'a.md': 'a' })
    configure(home, { mirrors: [{ name: 'Papers', path, library: 'Research', settle: '100ms', maxSize: '1KB' }] })
    const daemon = await startDaemon(home)
    await daemon.until('the file is mirrored', () => service.count('uploadFile') === 1)
    spawnSync('mkfifo', [join(path, 'pipe')])
    home.write('Papers', { 'big.bin': 'x'.repeat(2048), 'b.md': 'b' })
    await daemon.until('both are problems', () => dumpStore(home.stateDir).problem?.length === 2)
    const { stdout } = await home.shelfd(['status', '--json'])
    const codes = JSON.parse(stdout).mirrors[0].problems.map(({ code }: { code: string }) => code)
    expect(codes).toEqual(['over-max-size', 'unsupported'])
    await daemon.stop()
  })
})

describe('report --check', () => {
  test('report --check passes with old versions and ignored failures', async () => {
    const service = await startFaultyService({ library: 'Research' })
    const home = temporaryHome(service)
    const root = home.write('Papers', { 'a.md': 'a', 'refused.md': 'refused' })
    service.answer = ({ fileName }) =>
      fileName === 'refused.md' ? { status: 422, body: { message: 'no such kind' } } : undefined
    const to = ['Papers', '--to', 'Research']
    expect((await home.sync(to)).exitCode).toBe(1)
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(1)
    await home.shelfd(['failed', 'ignore', 'Papers/refused.md'])
    rmSync(join(root, 'a.md'))
    expect((await home.sync(to)).exitCode).toBe(0)
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(0)
    expect((await home.shelfd(['report', '--check', '--fail-on', 'superseded'])).exitCode).toBe(1)
    expect((await home.shelfd(['report', '--check', '--fail-on', 'nothing'])).exitCode).toBe(2)
  })
})
