/** What the real program shows on a terminal during a run. */
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { openTerminal } from '../support/terminal.ts'

const BIG = Buffer.alloc(24 * 2 ** 20, 'pelican ')

test('the progress counts a large file while it is read', async () => {
  const { home, root } = await homeOnService({ 'film.mkv': '' })
  truncateSync(join(root, 'film.mkv'), 1.5 * 2 ** 30)
  const terminal = openTerminal(['sync', 'Papers', '--to', 'Research', '--dry-run'], home)
  await terminal.shows(/Papers {2}scanning {2}1 file · reading/)
  expect((await terminal.ended).exitCode).toBe(0)
})

describe('the progress of an upload', () => {
  test('the progress counts bytes before a file is complete', async () => {
    const { service, home } = await homeOnService({ 'deep/big.bin': BIG })
    const { release } = service.holdUploads()
    const terminal = openTerminal(['sync', 'Papers', '--to', 'Research'], home)
    await terminal.shows(/Papers {2}uploading {2}━[━╸─]+ {2}0 of 1 · [\d.]+ of 24 MiB · .*big\.bin [1-9]\d* %/)
    release()
    expect((await terminal.ended).exitCode).toBe(0)
  })

  test('the progress counts only files that are still to send', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'x'.repeat(2_000), 'b.md': 'y'.repeat(1_000) })
    const first = service.holdUploads()
    const running = home.start(['sync', 'Papers', '--to', 'Research', '--transfers', '1'])
    await first.begun
    await running.kill()
    first.release()
    const second = service.holdUploads()
    const terminal = openTerminal(['sync', 'Papers', '--transfers', '1'], home)
    await second.begun
    await terminal.shows(/uploading .* 0 of 2 · .* of 2\.9 KiB/)
    second.release()
    expect((await terminal.ended).output).not.toMatch(/0 of 0|0\/0/)
  })

  test('the progress counts no file that a limit holds back', async () => {
    const { service, home } = await homeOnService({
      'a.md': 'x'.repeat(2_000),
      'b.md': 'y'.repeat(1_000),
      'c.md': 'z'.repeat(500),
    })
    const { begun, release } = service.holdUploads()
    const terminal = openTerminal(['sync', 'Papers', '--to', 'Research', '--max-new', '2'], home)
    await begun
    await terminal.shows(/uploading .* 0 of 2 · .* of 2\.9 KiB/)
    release()
    expect((await terminal.ended).exitCode).toBe(8)
  })

  test('the progress takes back the bytes of a failed attempt', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'x'.repeat(2_000) })
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'unavailable' : undefined)
    const { begun, release } = service.holdUploads(2)
    const terminal = openTerminal(['sync', 'Papers', '--to', 'Research'], home)
    await begun
    await terminal.shows(/uploading .* 0 of 1 · 2\.0 of 2\.0 KiB .*a\.md/)
    release()
    const { exitCode, output } = await terminal.ended
    expect(exitCode).toBe(0)
    expect(output).not.toMatch(/[34]\.\d KiB/)
  })

  test('the progress of a sync in the daemon reaches the terminal', async () => {
    const { service, home } = await homeOnService()
    configure(home, { mirrors: [{ name: 'other', path: home.write('Other', {}), library: 'Research' }] })
    home.write('Papers', { 'big.bin': BIG })
    const { release } = service.holdUploads()
    const daemon = await startDaemon(home)
    const terminal = openTerminal(['sync', 'Papers', '--to', 'Research'], home)
    await terminal.shows(/uploading .* of 24 MiB · .*big\.bin [1-9]\d* %/)
    release()
    expect((await terminal.ended).exitCode).toBe(0)
    await daemon.stop()
  })
})

test('a log line during the progress stands on its own line', async () => {
  const { service, home } = await homeOnService({ 'a.md': 'pelican', 'b.md': 'heron' })
  service.fault = ({ route, attempt }) => (route === 'showResource' && attempt === 1 ? 'throttled' : undefined)
  const { exitCode, output } = await openTerminal(['sync', 'Papers', '--to', 'Research', '-v'], home).ended
  expect(exitCode).toBe(0)
  const logged = output.split('\r\n').filter((line) => line.includes('every request waits'))
  expect(logged).not.toEqual([])
  // A terminal shows only what follows the last clearing of the line.
  for (const line of logged) expect(line.split('\r\x1b[2K').at(-1)).toMatch(/^\d\d:\d\d:\d\d (info|debug) /)
})
