import { execFile, spawnSync } from 'node:child_process'
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
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderManPages } from '../../../.ci/man/man-pages.ts'
import { renderSbom } from '../../../.ci/sbom.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { DaemonStatus } from '../../../src/sync/continuous/controller-status.ts'
import { makePdf } from '../../embedded/ingest/make-pdf.ts'
import { PROJECT } from '../../support/compiled-program.ts'
import { attachDaemon, configure, isIdle } from '../../support/daemon.ts'
import { freePort } from '../../support/free-port.ts'
import { expectExit, homeWithPapers, temporaryHome, type Variables } from '../../support/home.ts'
import { homeOnService } from '../../support/home-on-service.ts'
import { type Running, startShelfd } from '../../support/run-shelfd.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { startRegistry } from './registry.ts'

/** npm takes seconds when the registry answers, and waits for minutes when it does not. */
const NPM_MS = 120_000
const NPM_TRIES = 3
const PACK_AND_INSTALL_MS = 3 * NPM_TRIES * NPM_MS

const place = mkdtempSync(join(tmpdir(), 'shelfd-package-'))
/** For everybody, as the docs say. */
const prefix = join(place, 'installed')
const installed = join(prefix, 'lib', 'node_modules')
/** Without the embedded library, in a directory: with --global, npm takes no heed of --omit. */
const small = join(place, 'small', 'node_modules')
const olderNode = findOlderNode()

beforeAll(async () => {
  const { stdout: origin } = await npm(place, 'config', 'get', 'registry')
  await using registry = await startRegistry(origin.trim())
  await npm(PROJECT, 'pack', '--pack-destination', place)
  const options = ['--ignore-scripts', '--no-audit', `--registry=${registry.url}`, '--replace-registry-host=never']
  await npm(place, 'install', '--global', ...options, `--prefix=${prefix}`, tarball())
  await npm(place, 'install', '--omit=optional', ...options, `--prefix=${dirname(small)}`, tarball())
}, PACK_AND_INSTALL_MS)

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the installed package', () => {
  test('the package has the command and none of the development files', () => {
    expect(readdirSync(join(installed, 'shelfd')).sort()).toEqual([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'config', 'dist', 'docs', 'node_modules'],
      ...['package.json', 'sbom.cdx.json', 'service'],
    ])
    expect(readdirSync(join(installed, 'shelfd', 'dist'))).toEqual(expect.arrayContaining(['main.js', 'parts']))
    expect(existsSync(join(installed, 'shelfd', 'node_modules', 'vitest'))).toBe(false)
  })

  test(
    'the bill of materials lists every package that npm resolves today [S-21]',
    async () => {
      const sbom = readFileSync(join(installed, 'shelfd', 'sbom.cdx.json'), 'utf8')
      expect(sbom).toBe(renderSbom())
      const listed = new Set(JSON.parse(sbom).components.map(({ name }: { name: string }) => name))
      const isListed = (name: string) => listed.has(name.replace(/^@napi-rs\/canvas-.*/, '@napi-rs/canvas'))
      // The real registry: only it knows what is newer than the lock file. A request that hangs is made again after seconds, not minutes.
      const directory = temporaryDirectory({ 'package.json': '{ "private": true }' })
      const retries = ['--fetch-timeout=15000', '--fetch-retries=5', '--fetch-retry-mintimeout=1000']
      await npm(directory, 'install', '--package-lock-only', '--prefer-offline', '--no-audit', ...retries, tarball())
      const { packages } = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8'))
      const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''))
      expect(names).toContain('shelfd')
      expect(names.filter((name) => name !== '' && name !== 'shelfd' && !isListed(name))).toEqual([])
    },
    PACK_AND_INSTALL_MS,
  )

  test('the installed package has each page of the manual, where npm shows it to man', async () => {
    for (const { name, text } of await renderManPages()) {
      const shown = join(prefix, 'share', 'man', `man${name.at(-1)}`, name)
      expect(readFileSync(shown, 'utf8'), name).toBe(text)
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
  const [reader, away] = [join(installed, 'shelfd', 'node_modules', '@hyzyla', 'pdfium'), join(place, 'pdfium')]
  renameSync(reader, away)
  const synced = await started('sync', 'Papers', '--report')
  const [, id = ''] = /^resource +(\S+)$/m.exec((await started('why', 'Papers/a.pdf')).stdout) ?? []
  const shown = await started('resource', 'show', id, '--library', 'Papers')
  renameSync(away, reader)
  expect(synced.stdout).toContain('1 of them without searchable text (1 PDF)')
  expect(shown.stdout).toContain('PDF files cannot be read here')
  expect(shown.stdout).toContain('npm install -g @hyzyla/pdfium')
  expect((await started('search', 'herons')).stdout).toContain('b.md')
  expectExit(await started('sync', 'Papers'), 0, '')
  expect((await started('search', 'pelicans')).stdout).toContain('a.pdf')
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
    expectRefusal(run(join(prefix, 'bin', 'shelfd'), ['--version'], path), version)
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
  return run(join(prefix, 'bin', 'shelfd'), argv, `${dirname(process.execPath)}${delimiter}${process.env.PATH}`)
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

function tarball(): string {
  return join(place, readdirSync(place).find((name) => name.endsWith('.tgz')) ?? '')
}

/** npm with the Node of the tests, without the variables of an enclosing npm. If the registry leaves a request unanswered, tries again. */
async function npm(cwd: string, ...argv: string[]): Promise<{ readonly stdout: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
  const PATH = `${dirname(process.execPath)}${delimiter}${env.PATH}`
  for (let tries = 1; ; tries += 1) {
    try {
      return await promisify(execFile)('npm', argv, { cwd, env: { ...env, PATH }, timeout: NPM_MS })
    } catch (error) {
      if (!(error instanceof Error && 'killed' in error && error.killed)) throw error
      if (tries < NPM_TRIES) continue
      const command = `npm ${argv.join(' ')}`
      const message = `"${command}" did not end in ${NPM_MS / 1_000} s, ${tries} times: perhaps the registry does not answer`
      throw new Error(message, { cause: error })
    }
  }
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
