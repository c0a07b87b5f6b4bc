/** `shelfd init` by flags: its configuration works, and it writes nothing that would not work. */
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'

const configOf = (home: Home) => join(home.path, 'config', 'shelfd', 'config.yaml')

interface Given {
  readonly home: Home
  readonly service: FaultyService
  readonly flags: readonly string[]
}

/** A service, a file with its token, and a directory. */
async function withService(library = 'Research'): Promise<Given> {
  const service = await startFaultyService({ library })
  const home = homeWithPapers({ 'a.md': 'A', 'sub/b.md': 'B', '.env': 'SECRET=1' })
  home.write('secrets', { token: `${service.token}\n` })
  chmodSync(join(home.path, 'secrets', 'token'), 0o600)
  const token = ['--token-file', join(home.path, 'secrets', 'token')]
  return { home, service, flags: ['init', 'Papers', '--service-url', service.url, ...token, '--library', 'Research'] }
}

describe('init without a terminal', () => {
  test('init names every missing answer', async () => {
    const home = temporaryHome()
    const { exitCode, stderr } = await home.shelfd(['init'])
    expect(exitCode).toBe(2)
    for (const flag of ['DIR', '--service-url', '--embedded', '--token-file', '--library'])
      expect(stderr).toContain(flag)
    expect(existsSync(configOf(home))).toBe(false)
  })

  test('init of the embedded library needs only a directory', async () => {
    const home = homeWithPapers({ 'a.md': 'A', '.env': 'SECRET=1' })
    const { exitCode, stdout, stderr } = await home.shelfd(['init', 'Papers', '--embedded'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Wrote ${configOf(home)}\n` })
    expect(stderr).toMatch(/would send {2}1 file, 1 B/)
    expect(stderr).toMatch(/left out {4}1 \(looks like a secret\)/)
    expect(statSync(configOf(home)).mode & 0o777).toBe(0o600)
    const dry = await home.shelfd(['sync', '--dry-run'])
    expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Papers → Papers:\/Papers\n.*1 file/) })
  })

  test('init says that a .gitignore is not used, and uses it by its flag', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'a.log': 'A', '.gitignore': '*.log\n' })
    const init = async (...flags: string[]) => (await home.shelfd(['init', 'Papers', '--embedded', ...flags])).stderr
    expect(await init()).toMatch(
      /What \.gitignore names in \S*Papers is sent: --gitignore yes .*would send {2}3 files/s,
    )
    const used = await init('--force', '--gitignore', 'yes')
    expect(used).toMatch(/would send {2}2 files/)
    expect(used).not.toContain('What .gitignore')
    expect((await home.shelfd(['config', 'get', 'mirrors.Papers.gitignore'])).stdout).toBe('true\n')
  })

  test('init tries the service, and its configuration works', async () => {
    const { home, service, flags } = await withService()
    const { exitCode, stderr } = await home.shelfd(flags)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    expect(stderr).toMatch(/^ok {6}credential .*Owner/m)
    expect(readLibrary(service.dataDir)).toEqual([])
    expect(service.count('uploadFile')).toBe(0)
    expect(stderr + readFileSync(configOf(home), 'utf8')).not.toContain(service.token)
    expect(await home.shelfd(['sync', '--dry-run'])).toMatchObject({ exitCode: 0 })
    expect((await home.sync([])).mirror).toMatchObject({ name: 'Papers', uploads: { created: 2 } })
  })

  test('several directories share a library at different paths', async () => {
    const { home, flags } = await withService()
    home.write('old/Papers', { 'c.md': 'C' })
    const { exitCode, stdout } = await home.shelfd([...flags, 'old/Papers', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      configFile: configOf(home),
      mirrors: [
        { name: 'Papers', library: 'Research', remotePath: '/Papers' },
        { name: 'Papers-2', library: 'Research', remotePath: '/Papers-2' },
      ],
      installed: { service: false, completion: null },
    })
    expect((await home.shelfd(['sync', '--dry-run'])).exitCode).toBe(0)
  })

  test('a service together with the embedded library is refused', async () => {
    const { home, flags } = await withService()
    expect(await home.shelfd([...flags, '--embedded'])).toMatchObject({ exitCode: 2 })
    expect(existsSync(configOf(home))).toBe(false)
  })

  test('an existing configuration is kept without --force', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    home.write('config/shelfd', { 'config.yaml': '# mine\n' })
    expectExit(await home.shelfd(['init', 'Papers', '--embedded']), 8, '--force')
    expect(readFileSync(configOf(home), 'utf8')).toBe('# mine\n')
    expect((await home.shelfd(['init', 'Papers', '--embedded', '--force'])).exitCode).toBe(0)
    expect(readFileSync(configOf(home), 'utf8')).toContain('name: Papers')
  })
})

describe('failures of init', () => {
  async function expectNothing({ home }: Given, flags: readonly string[], exitCode: number): Promise<string> {
    const outcome = await home.shelfd(flags)
    expect(outcome).toMatchObject({ exitCode })
    expect(existsSync(configOf(home))).toBe(false)
    return outcome.stderr
  }

  test('init writes nothing when the service does not answer', async () => {
    const given = await withService()
    const url = `http://127.0.0.1:${await freePort()}`
    const flags = given.flags.map((word) => (word === given.service.url ? url : word))
    expect(await expectNothing(given, flags, 5)).toContain('connection refused')
  })

  test('init writes nothing when the service refuses the token', async () => {
    const given = await withService()
    given.home.write('secrets', { token: 'canary-of-nobody\n' })
    expect(await expectNothing(given, given.flags, 7)).not.toContain('canary')
  })

  test('init writes nothing when others can read the token', async () => {
    const given = await withService()
    chmodSync(join(given.home.path, 'secrets', 'token'), 0o644)
    expect(await expectNothing(given, given.flags, 2)).toContain('chmod 600')
  })

  test('init writes nothing when a right is missing', async () => {
    const given = await withService()
    given.service.rewrite = ({ route }, body) => {
      if (route !== 'checkAccess') return body
      return { ...body, abilities: [], libraries: [{ id: 'r', name: 'Research', access: ['read', 'resource.create'] }] }
    }
    expect(await expectNothing(given, given.flags, 7)).toContain('lacks update')
  })

  test('init creates a missing library only with --create-library', async () => {
    const given = await withService('Elsewhere')
    expect(await expectNothing(given, given.flags, 2)).toContain('--create-library')
    expect((await given.home.shelfd([...given.flags, '--create-library'])).exitCode).toBe(0)
    expect((await given.home.shelfd(['libraries', 'list'])).stdout).toContain('Research')
  })

  test('init refuses a directory that is missing or too broad', async () => {
    const given = await withService()
    const flags = given.flags.filter((word) => word !== 'Papers')
    expect(await expectNothing(given, [...flags, 'Nowhere'], 3)).toContain('Nowhere')
    expect(await expectNothing(given, [...flags, given.home.path], 8)).toContain('the whole home directory')
  })

  test('init refuses a directory inside another', async () => {
    const given = await withService()
    expect(await expectNothing(given, [...given.flags, 'Papers/sub'], 2)).toContain('sent twice')
  })
})

describe('installations by init', () => {
  test('init writes the completion where the shell reads it', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const flags = ['init', 'Papers', '--embedded', '--install-completion', 'yes']
    expect((await home.shelfd(flags, { SHELL: '/bin/bash' })).exitCode).toBe(0)
    const script = readFileSync(join(home.path, 'data', 'bash-completion', 'completions', 'shelfd'), 'utf8')
    expect(script).toMatch(/complete .*shelfd/)
  })

  test.runIf(process.platform === 'linux')('init installs the service for its configuration', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const bin = home.write('bin', { systemctl: '#!/bin/sh\nexit 0\n' })
    chmodSync(join(bin, 'systemctl'), 0o755)
    const config = join(home.path, 'other.yaml')
    const flags = ['init', 'Papers', '--embedded', '--install-service', 'yes', '--config', config]
    const { exitCode } = await home.shelfd(flags, { PATH: `${bin}:${home.env.PATH}` })
    expect(exitCode).toBe(0)
    const unit = readFileSync(join(home.path, 'config', 'systemd', 'user', 'shelfd.service'), 'utf8')
    expect(unit).toMatch(new RegExp(`^ExecStart=.*"daemon" "--config" "${config}"$`, 'm'))
  })
})
