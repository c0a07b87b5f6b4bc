import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderManPages } from '../../.ci/man/man-pages.ts'
import { renderSbom } from '../../.ci/sbom.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { makePdf } from '../embedded/ingest/make-pdf.ts'
import { PROJECT } from '../support/compiled-program.ts'
import { attachDaemon, configure, isIdle } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, homeWithPapers, temporaryHome, type Variables } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { type Running, startShelfd } from '../support/run-shelfd.ts'
import { writeTree } from '../support/temporary.ts'

const PACK_AND_INSTALL_MS = 300_000

const place = mkdtempSync(join(tmpdir(), 'shelfd-package-'))
const installed = join(place, 'installed', 'node_modules')
/** Without the embedded library. */
const small = join(place, 'small', 'node_modules')
const olderNode = findOlderNode()

beforeAll(() => {
  npm(PROJECT, 'pack', '--pack-destination', place)
  const tarball = join(place, readdirSync(place).find((name) => name.endsWith('.tgz')) ?? '')
  install('installed', tarball)
  install('small', '--omit=optional', tarball)
}, PACK_AND_INSTALL_MS)

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the installed package', () => {
  test('the package has the command and none of the development files', () => {
    const files = readdirSync(join(installed, 'shelfd')).sort()
    expect(files).toEqual([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'config', 'dist', 'docs', 'package.json'],
      ...['sbom.cdx.json', 'service'],
    ])
    expect(readdirSync(join(installed, 'shelfd', 'dist'))).toEqual(expect.arrayContaining(['main.js', 'parts']))
    expect(existsSync(join(installed, 'vitest'))).toBe(false)
  })

  test('the bill of materials lists every installed package [S-21]', () => {
    const sbom = readFileSync(join(installed, 'shelfd', 'sbom.cdx.json'), 'utf8')
    expect(sbom).toBe(renderSbom())
    const { components } = JSON.parse(sbom)
    const listed = new Set(components.map(({ name }: { name: string }) => name))
    const isListed = (name: string) => listed.has(name.replace(/^@napi-rs\/canvas-.*/, '@napi-rs/canvas'))
    expect(namesIn(installed).filter((name) => name !== 'shelfd' && !isListed(name))).toEqual([])
  })

  test('the installed package has each page of the manual', async () => {
    for (const { name, text } of await renderManPages()) {
      expect(readFileSync(join(installed, 'shelfd', 'dist', 'man', name), 'utf8'), name).toBe(text)
    }
  })

  test('the installed command prints its version', () => {
    expect(shelfd('--version')).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' })
  })

  test('the installed command mirrors a directory and reports it in sync', () => {
    const directory = join(place, 'notes')
    mkdirSync(directory)
    writeFileSync(join(directory, 'a.md'), '# A note\n')
    writeFileSync(join(directory, 'b.html'), '<p>Another note</p>\n')
    const { status, stdout } = shelfd('sync', directory, '--report')
    expect(stdout).toMatch(/sent +2 files/)
    expect(stdout).toMatch(/= +2 in-sync/)
    expect(status).toBe(0)
  })
})

function isUpToDate({ mirrors }: DaemonStatus, sinceMs: number): boolean {
  return mirrors.every(({ lastSuccessAt }) => (lastSuccessAt ?? 0) >= sinceMs)
}

describe('processes of the installed package', () => {
  test('the installed daemon mirrors files and counts them in its metrics', async () => {
    const port = await freePort()
    const { env, stateDir, root, write } = daemonHome(port)
    const daemon = attachDaemon(startInstalled(['daemon'], env), stateDir)
    await daemon.until('the first file is sent', (status) => status.mirrors.length === 1 && isIdle(status))
    const savedAt = Date.now()
    write(root, { 'b.html': '<p>Saved beside the daemon</p>' })
    await daemon.until('the second file is searchable', (status) => isIdle(status) && isUpToDate(status, savedAt))
    const count = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const both = /^shelfd_files\{.*state="searchable"\} 2$/m
    await expect.poll(count).toMatch(both)
    const { stdout } = await startInstalled(['status'], env).ended
    expect(stdout).toContain('daemon: running')
    const report = await startInstalled(['report', '--check'], env).ended
    expect(report.exitCode).toBe(0)
    expect((await daemon.stop()).exitCode).toBe(0)
  })

  test('the installed server prints its address as one line of JSON', async () => {
    const home = temporaryHome()
    const server = startInstalled(['serve', '--port', '0', '--json'], home.env)
    const [line] = await once(server.child.stdout?.setEncoding('utf8') ?? server.child, 'data')
    const { url, documentation } = JSON.parse(line)
    expect((await fetch(documentation)).status).toBe(200)
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const loaded = [...page.matchAll(/"(\/web\/[^"]+)"/g)].map(([, name]) => name)
    expect(loaded).toHaveLength(3)
    for (const name of loaded) expect([name, (await fetch(url + name)).status]).toEqual([name, 200])
    server.child.kill('SIGTERM')
    expect((await server.ended).exitCode).toBe(0)
  })

  test('a stack trace with -vv names the source file', async () => {
    const home = temporaryHome()
    expectExit(
      await startInstalled(['sync', '/not/there', '-vv'], home.env).ended,
      3,
      /^ +at .*\(src\/\S+\.ts:\d+:\d+\)$/m,
    )
  })
})

describe('an installation for a remote service', () => {
  test('an installation without the library has at most 60 packages and 60 MB', () => {
    const { packages } = JSON.parse(readFileSync(join(small, '.package-lock.json'), 'utf8'))
    expect(Object.keys(packages).length).toBeLessThanOrEqual(60)
    expect(sizeOf(small) / 1e6).toBeLessThanOrEqual(60)
  })

  test('an installation without the library mirrors into a service, reports, and runs as a daemon', async () => {
    const { home, root } = await homeOnService({ 'a.md': '# A note\n', 'b.html': '<p>Another note</p>\n' })
    configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Research', settle: '100ms' }] })
    const started = (...args: string[]) => home.start(args, { cwd: place, main: mainFile(small) })
    const synced = await started('sync').ended
    expect(synced).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sent +2 files/) })
    const daemon = attachDaemon(started('daemon'), home.stateDir)
    await daemon.until('the mirror is up to date', isIdle)
    const savedAt = Date.now()
    home.write('Papers', { 'c.md': 'Saved beside the daemon' })
    await daemon.until('the third file is sent', (status) => isIdle(status) && isUpToDate(status, savedAt))
    expect((await daemon.stop()).exitCode).toBe(0)
    const { exitCode, stdout } = await started('report', '--check').ended
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/= +3 in-sync/)])
  })

  test.each([['sync', 'Papers'], ['serve']])(
    '%s says that the library is not installed, and what to do',
    async (...args) => {
      const home = homeWithPapers({ 'a.md': 'A' })
      expectExit(
        await home.start(args, { main: mainFile(small) }).ended,
        2,
        /The embedded library is not installed.*--service-url.*npm install -g shelfd --include=optional/,
      )
    },
  )
})

test('a document whose reader is not installed is kept, says so, and is read once the reader is there', async () => {
  const home = homeWithPapers({ 'a.pdf': makePdf([{ lines: ['Pelicans dive'] }]), 'b.md': 'Herons wade' })
  const started = (...args: string[]) => home.start(args, { main: mainFile() }).ended
  const [reader, away] = [join(installed, '@hyzyla', 'pdfium'), join(place, 'pdfium')]
  renameSync(reader, away)
  const synced = await started('sync', 'Papers', '--report')
  const [, id = ''] = /^resource +(\S+)$/m.exec((await started('why', 'Papers/a.pdf')).stdout) ?? []
  const shown = await started('resource', 'show', id, '--library', 'Papers')
  renameSync(away, reader)
  expect(synced.stdout).toContain('1 of them without searchable text (1 PDF)')
  expect(shown.stdout).toContain('PDF files cannot be read here')
  expect(shown.stdout).toContain('npm install -g @hyzyla/pdfium')
  expect((await started('search', 'herons')).stdout).toContain('b.md')
  await expect.poll(async () => (await started('search', 'pelicans')).stdout, { timeout: 20_000 }).toContain('a.pdf')
})

describe('older versions of Node', () => {
  test('an older Node is refused before anything else is loaded', () => {
    const versions = "{ ...process.versions, node: '20.20.2' }"
    const pretend = `data:text/javascript,Object.defineProperty(process, 'versions', { value: ${versions} })`
    expectRefusal(run(process.execPath, ['--import', pretend, mainFile(), '--version']), '20.20.2')
  })

  test.skipIf(olderNode === undefined)('a really installed older Node is refused with one sentence', () => {
    const { file, version } = olderNode ?? { file: '', version: '' }
    expectRefusal(run(file, [mainFile(), 'sync']), version)
    const path = `${dirname(file)}${delimiter}${process.env.PATH}`
    expectRefusal(run(join(installed, '.bin', 'shelfd'), ['--version'], path), version)
  })
})

/** A home whose configuration has one mirror of one file, and a port for metrics. */
function daemonHome(port: number) {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': '# A note\n' })
  const mirrors = [{ name: 'papers', path: root, library: 'Papers', settle: '100ms' }]
  configure(home, { mirrors, health: { listen: `127.0.0.1:${port}` } })
  return { ...home, root, write: writeTree }
}

function startInstalled(args: readonly string[], env: Variables): Running {
  return startShelfd(args, { env, cwd: place, main: mainFile() })
}

/** Names of the packages in a node_modules directory. */
function namesIn(directory: string): string[] {
  const visible = readdirSync(directory).filter((name) => !name.startsWith('.'))
  return visible.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(directory, name)).map((inner) => `${name}/${inner}`) : [name],
  )
}

function expectRefusal(ended: Ended, version: string): void {
  const stderr = `shelfd: Cannot run on Node ${version}: Node 24 or newer is needed\n`
  expect(ended).toEqual({ status: 2, stdout: '', stderr })
}

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function shelfd(...argv: string[]): Ended {
  return run(join(installed, '.bin', 'shelfd'), argv, `${dirname(process.execPath)}${delimiter}${process.env.PATH}`)
}

/** Runs a program with a clean home directory. */
function run(file: string, argv: readonly string[], PATH = process.env.PATH): Ended {
  const env = { PATH, HOME: join(place, 'home'), SHELFD_NO_SYSTEM_CONFIG: '1' }
  const { status, stdout, stderr } = spawnSync(file, argv, { cwd: place, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

function mainFile(modules = installed): string {
  return join(modules, 'shelfd', 'dist', 'main.js')
}

function install(name: string, ...options: readonly string[]): void {
  const consumer = join(place, name)
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }\n')
  npm(consumer, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...options)
}

/** npm with the Node of the tests, without the variables of an enclosing npm. */
function npm(cwd: string, ...argv: string[]): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
  const PATH = `${dirname(process.execPath)}${delimiter}${env.PATH}`
  execFileSync('npm', argv, { cwd, env: { ...env, PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** A Node on the search path that is too old, if there is one. */
function findOlderNode(): { file: string; version: string } | undefined {
  const files = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'))
  for (const file of files) {
    const version = existsSync(file) ? run(file, ['--version']).stdout.trim().slice(1) : ''
    if (version !== '' && Number.parseInt(version, 10) < 24) return { file, version }
  }
  return undefined
}

/** Bytes of all files below a directory. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
