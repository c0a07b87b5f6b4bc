/** The packed program, installed without its optional packages, or without one of them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { makePdf } from '../embedded/ingest/make-pdf.ts'
import { attachDaemon, isIdle } from '../support/daemon.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { npm, packProgram } from './pack-program.ts'

const PACK_AND_INSTALL_MS = 300_000

const place = mkdtempSync(join(tmpdir(), 'shelfd-remote-'))
const small = join(place, 'small', 'node_modules')
const full = join(place, 'full', 'node_modules')

beforeAll(() => {
  const tarball = packProgram(place)
  install('small', tarball, '--omit=optional')
  install('full', tarball)
}, PACK_AND_INSTALL_MS)

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('an installation for a remote service', () => {
  test('an installation without the library has at most 60 packages and 60 MB', () => {
    const { packages } = JSON.parse(readFileSync(join(small, '.package-lock.json'), 'utf8'))
    expect(Object.keys(packages).length).toBeLessThanOrEqual(60)
    expect(sizeOf(small) / 1e6).toBeLessThanOrEqual(60)
  })

  test('an installation without the library mirrors into a service, reports, and runs as a daemon', async () => {
    const { home, root } = await homeOnService({ 'a.md': '# A note\n', 'b.html': '<p>Another note</p>\n' })
    const mirrors = [{ name: 'papers', path: root, library: 'Research', settle: '100ms' }]
    home.write('config/shelfd', { 'config.yaml': JSON.stringify({ mirrors }) })
    const started = (...args: string[]) => home.start(args, { cwd: place, main: mainIn(small) })
    const synced = await started('sync').ended
    expect(synced).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sent +2 files/) })
    const daemon = attachDaemon(started('daemon'), home.stateDir)
    await daemon.until('the mirror is up to date', isIdle)
    const savedAt = Date.now()
    home.write('Papers', { 'c.md': 'Saved beside the daemon' })
    const isSent = ({ mirrors: [mirror] }: DaemonStatus) => (mirror?.lastSuccessAt ?? 0) >= savedAt
    await daemon.until('the third file is sent', (status) => isIdle(status) && isSent(status))
    expect((await daemon.stop()).exitCode).toBe(0)
    const { exitCode, stdout } = await started('report', '--check').ended
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/= +3 in-sync/)])
  })

  test.each([['sync', 'Papers'], ['serve']])(
    '%s says that the library is not installed, and what to do',
    async (...args) => {
      const home = temporaryHome()
      home.write('Papers', { 'a.md': 'A' })
      expectExit(
        await home.start(args, { main: mainIn(small) }).ended,
        2,
        /The embedded library is not installed.*--service-url.*npm install -g shelfd --include=optional/,
      )
    },
  )
})

test('a document whose reader is not installed is kept, says so, and is read once the reader is there', async () => {
  const home = temporaryHome()
  home.write('Papers', { 'a.pdf': makePdf([{ lines: ['Pelicans dive'] }]), 'b.md': 'Herons wade' })
  const started = (...args: string[]) => home.start(args, { main: mainIn(full) }).ended
  const [reader, away] = [join(full, '@hyzyla', 'pdfium'), join(place, 'pdfium')]
  renameSync(reader, away)
  const synced = await started('sync', 'Papers', '--report')
  const [, id = ''] = /^resource +(\S+)$/m.exec((await started('why', 'Papers/a.pdf')).stdout) ?? []
  const shown = await started('resource', 'show', id, '--library', 'Papers')
  renameSync(away, reader)
  expect(synced.stdout).toContain('1 without searchable text (1 PDF)')
  expect(shown.stdout).toContain('PDF files cannot be read here')
  expect(shown.stdout).toContain('npm install -g @hyzyla/pdfium')
  expect((await started('search', 'herons')).stdout).toContain('b.md')
  await expect.poll(async () => (await started('search', 'pelicans')).stdout, { timeout: 20_000 }).toContain('a.pdf')
})

function install(name: string, tarball: string, ...options: readonly string[]): void {
  const consumer = join(place, name)
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }\n')
  npm(consumer, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...options, tarball)
}

function mainIn(modules: string): string {
  return join(modules, 'shelfd', 'dist', 'main.js')
}

/** Bytes of all files below a directory. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
