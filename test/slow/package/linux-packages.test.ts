/** The packages for Linux, installed and run where there is nothing but the essential packages of Debian. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { makePackages } from '../../../.ci/packages/make-packages.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { type InsideOutcome, makeCleanRoot, runInside, startInside } from '../../support/clean-root.ts'
import { freePort } from '../../support/free-port.ts'
import { needs } from '../../support/needs.ts'
import { writeTree } from '../../support/temporary.ts'
import { exposureOf, verifyUnit } from '../../support/verify-unit.ts'

const PROGRAMS = ['adduser', 'dpkg', 'find', 'ldconfig', 'mount', 'pgrep', 'readelf', 'sed', 'tar', 'unshare'] as const
const INSTALL_MS = 300_000
const UNIT = 'usr/lib/systemd/system/shelfd.service'
/** Which package of Debian has a library. */
const PACKAGE_OF: Readonly<Record<string, string>> = { 'libstdc++.so.6': 'libstdc++6', 'libgcc_s.so.1': 'libgcc-s1' }
/** The compiler whose libstdc++ first had these symbols. */
const COMPILER_OF: Readonly<Record<string, string>> = { '3.4.29': '11' }

const PROJECT = join(import.meta.dirname, '..', '..', '..')

const place = mkdtempSync(join(tmpdir(), 'shelfd-linux-packages-'))
const root = join(place, 'root')
const nobody = { user: 'nobody', env: { HOME: '/tmp/nobody' } }
let deb = ''

describe('the packages for Linux', () => {
  const isReady = needs('mounts', 'debian', ...PROGRAMS)

  beforeAll(async () => {
    if (!isReady) return
    const [archive = '', made = ''] = await makePackages({ directory: place, madeAt: 1_790_000_000, isQuick: true })
    deb = made
    makeCleanRoot(root, ['adduser', 'libgcc-s1', 'libstdc++6', 'procps'])
    const papers = { 'a.md': '# Tides\n\nThe spring tide follows the new moon.\n', 'b.csv': 'day,height\n1,2\n' }
    writeTree(join(root, 'srv', 'papers'), papers)
    mkdirSync(join(root, 'opt'))
    execFileSync('tar', ['--extract', `--file=${archive}`, `--directory=${join(root, 'opt')}`])
    expectDone(dpkg('--install', deb))
    expectDone(runInside(root, ['install', '--directory', '--owner=nobody', '/tmp/nobody']))
  }, INSTALL_MS)

  afterAll(() => rmSync(place, { recursive: true, force: true }))

  test('the package for Debian brings command, user, directories, manual and completion', () => {
    const { stdout } = expectDone(runInside(root, ['shelfd', '--version', '--json'], nobody))
    const { version, configFile, program } = JSON.parse(stdout)
    expect([version, configFile, program]).toEqual([
      packageJson.version,
      '/etc/shelfd/config.yaml',
      '/usr/lib/shelfd/dist/main.js',
    ])
    const owner = runInside(root, ['stat', '--format=%U %G %a', '/var/lib/shelfd', '/etc/shelfd/config.yaml']).stdout
    expect(owner).toBe('shelfd shelfd 700\nroot root 644\n')
    const files = ['man/man1/shelfd-sync.1.gz', 'man/man5/shelfd-config.5.gz', 'bash-completion/completions/shelfd']
    for (const file of files) expect(statSync(join(root, 'usr/share', file)).size, file).toBeGreaterThan(100)
    const copyright = readFileSync(join(root, 'usr/share/doc/shelfd/copyright'), 'utf8')
    expect(copyright).toMatch(/MIT License[\s\S]*better-sqlite3 \S+: MIT[\s\S]*Node\.js is licensed/)
  })

  test('the package depends on the versions that its binaries were linked with', () => {
    const { libraries, newest } = inspectBinaries(join(root, 'usr/lib/shelfd'))
    const [, depends = ''] =
      /^Depends: (.*)$/m.exec(execFileSync('dpkg-deb', ['--field', deb], { encoding: 'utf8' })) ?? []
    const needed = ['adduser', 'procps', ...libraries.map((library) => PACKAGE_OF[library] ?? 'libc6')]
    const compiler = COMPILER_OF[newest('GLIBCXX')]
    expect(
      depends
        .split(', ')
        .map((each) => each.split(' ')[0])
        .sort(),
    ).toEqual([...new Set(needed)].sort())
    expect(depends).toContain(`libc6 (>= ${newest('GLIBC')})`)
    expect(depends).toContain(`libstdc++6 (>= ${compiler})`)
  })

  test('the installed program mirrors a directory, and that of the archive finds it', () => {
    expect(expectDone(runInside(root, ['shelfd', 'sync', '/srv/papers', '--report'], nobody)).stdout).toMatch(
      /= +2 in-sync/,
    )
    const [found = ''] = globSync('opt/shelfd-*/bin/shelfd', { cwd: root })
    expect(expectDone(runInside(root, [`/${found}`, 'search', 'spring tide'], nobody)).stdout).toContain('a.md')
    expect(expectDone(runInside(root, [`/${found}`, '--version', '--json'], nobody)).stdout).toContain(
      '"program":"/opt/',
    )
  })

  test('systemd accepts the unit of the package, which keeps its sandbox', async () => {
    const unit = join(place, 'shelfd.service')
    writeFileSync(unit, readFileSync(join(root, UNIT), 'utf8').replaceAll('/usr/lib/shelfd', `${root}/usr/lib/shelfd`))
    expect(await verifyUnit(unit, false)).toEqual([])
    expect(await exposureOf(join(root, UNIT))).toBeLessThanOrEqual(1.5)
  })

  test('the daemon runs as the user of the unit with the configuration in /etc', async () => {
    const configuration = join(root, 'etc/shelfd/config.yaml')
    const written = readFileSync(configuration, 'utf8')
    expect(written).toContain('\n#mirrors:\n#  - name: papers # default')
    const pages = [...written.matchAll(/\/usr\/share\/doc\/[\w./-]+\.md/g)].map(([page]) => join(root, page))
    expect(pages.filter((page) => !existsSync(page))).toEqual([])
    expect(pages.length).toBeGreaterThan(0)
    expect(written).not.toMatch(/[ (]docs\//)
    writeFileSync(configuration, `mirrors: [{ path: /srv/papers, settle: 100ms }]\n${written}`)
    const { command, ...daemon } = readUnit(readFileSync(join(root, UNIT), 'utf8'))
    expectDone(runInside(root, ['install', '--directory', `--owner=${daemon.user}`, '/run/shelfd']))
    const child = startInside(root, command, daemon)
    onTestFinished(() => void child.kill('SIGKILL'))
    const ofMachine = { SHELFD_STATE_DIR: '/var/lib/shelfd', SHELFD_DATA_DIR: '/var/lib/shelfd/library' }
    const status = () => runInside(root, ['shelfd', 'status'], { env: ofMachine }).stdout
    await expect.poll(status, { interval: 300 }).toMatch(/daemon: running[\s\S]*2 files searchable/)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('the steps of the Dockerfile give a daemon that writes nothing but its volumes', async () => {
    const [, steps = []] = readStages(await onFreePort('service/docker/Dockerfile'))
    const [built = ''] = globSync('opt/shelfd-*', { cwd: root })
    // What the image of Node brings.
    expectDone(runInside(root, ['useradd', '--uid', '1000', '--user-group', 'node']))
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
    expectDone(runInside(root, ['ln', '--symbolic', `/${built}/bin/node`, '/usr/local/bin/node']))
    const image = runSteps(steps, built)
    const compose = parse(readFileSync(join(PROJECT, 'service/docker/compose.yaml'), 'utf8')).services.shelfd
    expect(compose).toMatchObject({ read_only: true, user: '1000:1000', cap_drop: ['ALL'] })
    expect(compose.volumes).toEqual(expect.arrayContaining(['state:/state', 'library:/library']))
    const daemon = { user: image.user, env: image.env, volumes: image.volumes }
    writeFileSync(join(root, 'etc/shelfd/config.yaml'), 'mirrors: [{ path: /srv/papers, settle: 100ms }]\n')
    const child = startInside(root, [...image.entrypoint, ...image.command], daemon)
    onTestFinished(() => void child.kill('SIGKILL'))
    const check = () => runInside(root, image.healthcheck).exitCode
    await expect.poll(check, { interval: 300 }).toBe(0)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(runInside(root, image.healthcheck).exitCode).toBe(1)
  })

  test('an update keeps the configuration, removal the data, and purging neither', () => {
    const exists = (path: string) => runInside(root, ['test', '-e', path]).exitCode === 0
    const next = makeNextVersion(deb)
    expectDone(dpkg('--force-confdef', '--force-confold', '--install', next))
    expect(readFileSync(join(root, 'etc/shelfd/config.yaml'), 'utf8')).toContain('mirrors: [{ path: /srv/papers')
    const removed = expectDone(dpkg('--remove', 'shelfd'))
    expect(removed.stdout).toContain('kept /var/lib/shelfd')
    expect(['/var/lib/shelfd/store.db', '/etc/shelfd/config.yaml', '/usr/bin/shelfd'].map(exists)).toEqual([
      true,
      true,
      false,
    ])
    const purged = expectDone(dpkg('--purge', 'shelfd'))
    expect(purged.stdout).toContain('removing /var/lib/shelfd')
    const left = [
      '/var/lib/shelfd',
      '/etc/shelfd',
      '/usr/lib/shelfd',
      '/usr/bin/shelfd',
      '/usr/share/doc/shelfd',
      `/${UNIT}`,
    ]
    expect(left.filter(exists)).toEqual([])
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).not.toContain('shelfd')
    expect(exists('/srv/papers/a.md')).toBe(true)
  })
})

/** dpkg in that root; without its waits for the disk, which only a power cut would need. */
function dpkg(...args: string[]): InsideOutcome {
  const file = args.at(-1) ?? ''
  if (file.startsWith('/')) copyFileSync(file, join(root, 'tmp', basename(file)))
  const inside = args.map((arg) => (arg.startsWith('/') ? join('/tmp', basename(arg)) : arg))
  return runInside(root, ['dpkg', '--force-unsafe-io', ...inside])
}

function expectDone(outcome: InsideOutcome): InsideOutcome {
  expect(outcome.exitCode, outcome.stdout + outcome.stderr).toBe(0)
  return outcome
}

/** A port of its own in place of the usual one, which another test may use. */
async function onFreePort(file: string): Promise<string> {
  return readFileSync(join(PROJECT, file), 'utf8').replaceAll('9847', String(await freePort()))
}

type Step = readonly [instruction: string, argument: string]

/** The instructions of each stage of a Dockerfile. */
function readStages(text: string): Step[][] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
  const steps = lines
    .filter(Boolean)
    .map((line): Step => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)])
  return steps.reduce<Step[][]>((stages, step) => {
    if (step[0] === 'FROM') stages.push([])
    stages.at(-1)?.push(step)
    return stages
  }, [])
}

/** Does in the root what Docker would do for the last stage, with `built` in place of the first; installs no packages. */
function runSteps(steps: readonly Step[], built: string) {
  const argumentsOf = (name: string) =>
    steps.filter(([instruction]) => instruction === name).map(([, argument]) => argument)
  const listOf = (name: string): string[] => JSON.parse((argumentsOf(name)[0] ?? '').replace(/^[^[]*/, ''))
  const [directory = '/'] = argumentsOf('WORKDIR')
  mkdirSync(join(root, directory), { recursive: true })
  for (const [instruction, argument] of steps) {
    const [, ...paths] = argument.split(' ')
    const target = join(directory, paths.pop() ?? '')
    const sources = paths.map((path) => path.replace('/build', `/${built}`))
    if (instruction === 'COPY') expectDone(runInside(root, ['cp', '--recursive', ...sources, target]))
    if (instruction === 'RUN' && !argument.startsWith('apt-get')) expectDone(runInside(root, ['sh', '-c', argument]))
  }
  const env = Object.fromEntries(
    argumentsOf('ENV').flatMap((line) => line.split(/ +/).map((each) => each.split('=', 2))),
  )
  const path = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/home/node' }
  return {
    user: argumentsOf('USER')[0] ?? '',
    env: { ...path, ...env },
    volumes: listOf('VOLUME'),
    entrypoint: listOf('ENTRYPOINT'),
    command: listOf('CMD'),
    healthcheck: ['env', `PATH=${path.PATH}`, ...listOf('HEALTHCHECK')],
  }
}

/** Returns what systemd would start, as whom, and with which variables. */
function readUnit(unit: string) {
  const valuesOf = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const variables = valuesOf('Environment').flatMap((line) => line.split(' ').map((each) => each.split('=', 2)))
  const directories = { STATE_DIRECTORY: '/var/lib/shelfd', RUNTIME_DIRECTORY: '/run/shelfd' }
  const command = [...(valuesOf('ExecStart')[0] ?? '').matchAll(/"([^"]*)"/g)].map(([, word = '']) => word)
  const env = { ...Object.fromEntries(variables), ...directories, HOME: '/var/lib/shelfd' }
  return { command, user: valuesOf('User')[0] ?? '', env: { ...env, XDG_DATA_HOME: '/var/lib' } }
}

/** The next version with the same scripts, another default configuration and nothing else. */
function makeNextVersion(file: string): string {
  const tree = join(place, 'next')
  mkdirSync(tree)
  execFileSync('dpkg-deb', ['--control', file, join(tree, 'DEBIAN')])
  const control = readFileSync(join(tree, 'DEBIAN', 'control'), 'utf8')
  writeTree(tree, {
    'DEBIAN/control': control.replace(/^Version: .*$/m, 'Version: 999'),
    'etc/shelfd/config.yaml': '# Another default\n',
  })
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, join(place, 'next.deb')], {
    stdio: 'ignore',
  })
  return join(place, 'next.deb')
}

/** The libraries of the system that all binaries need together, and the newest version of symbols of a kind. */
function inspectBinaries(directory: string) {
  const binaries = ['bin/node', ...globSync('node_modules/**/{*.node,lib*.so*}', { cwd: directory })]
  const read = (flags: string) => execFileSync('readelf', [flags, ...binaries], { cwd: directory, encoding: 'utf8' })
  const own = new Set(binaries.map((name) => basename(name)))
  const needed = [...read('-dW').matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, library = '']) => library)
  const versions = read('-VW')
  const newest = (kind: string) => {
    const found = [...versions.matchAll(new RegExp(`Name: ${kind}_([0-9.]+) `, 'g'))].map(([, version = '']) => version)
    return found.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1) ?? ''
  }
  return { libraries: [...new Set(needed)].filter((library) => !own.has(library)), newest }
}
