/** The output of `config show` can be pasted into a configuration file, names the origin of each value, and hides secrets. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'

const YAML = `service:
  url: https://library.example.com
  tokenCommand: [pass, show, --secret=canary-9]
mirrors:
  - name: papers
    path: Papers
    library: Research
    ignore: ["*.bak", "# odd"]
    maxSize: 50MB
    settle: 10s
limits: { newPerRun: none, bandwidth: 2MB }
maintenance: [{ start: "0 12 * * sat", duration: 90m }]
`

function homeWith(yaml: string): { home: Home; file: string } {
  const home = temporaryHome()
  home.write('config/shelfd', { 'config.yaml': yaml })
  return { home, file: join(home.path, 'config/shelfd/config.yaml') }
}

async function show(home: Home, ...flags: string[]) {
  const { exitCode, stdout, stderr } = await home.shelfd(['config', 'show', ...flags], { SHELFD_MAX_NEW_PER_DAY: '7' })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

test("config show prints the file's keys with each value's origin", async () => {
  const { home, file } = homeWith(YAML)
  const stdout = await show(home, '--transfers', '8')
  expect(stdout).toContain(`  url: https://library.example.com # ${file}:2\n`)
  expect(stdout).toContain(`    maxSize: 50MB # ${file}:9\n`)
  expect(stdout).toContain('    rescan: 1h # default\n')
  expect(stdout).toContain('  transfers: 8 # --transfers\n')
  expect(stdout).toContain('  newPerDay: 7 # SHELFD_MAX_NEW_PER_DAY\n')
  expect(stdout).toContain(`  newPerRun: none # ${file}:11\n`)
  expect(stdout).toContain(`    path: ${home.path}/config/shelfd/Papers # ${file}:6\n`)
  expect(stdout).not.toMatch(/Ms:|PerSecond: 2097152/)
})

test('config show never prints a secret [S-04]', async () => {
  const { home } = homeWith(YAML)
  const plain = homeWith('service: { url: "https://library.example.com", token: canary-10 }\n')
  chmodSync(plain.file, 0o600)
  for (const flags of [[], ['--json']]) {
    expect(await show(home, ...flags)).not.toContain('canary')
    expect(await show(plain.home, ...flags)).not.toContain('canary')
  }
  expect(await show(home)).toMatch(/# tokenCommand: pass …, not shown in full/)
  expect(await show(plain.home)).toMatch(/# token: set, not shown/)
})

test.each([
  ['the defaults', ''],
  ['a service', YAML],
])('the output of config show can be pasted back: %s', async (_, yaml) => {
  const { home } = homeWith(yaml)
  const pasted = join(home.path, 'pasted.yaml')
  writeFileSync(pasted, await show(home, '--transfers', '8'))
  const { origins, configFile, ...before } = JSON.parse(await show(home, '--json', '--transfers', '8'))
  const { origins: after, configFile: _pasted, ...again } = JSON.parse(await show(home, '--json', '--config', pasted))
  // A person must write the secret in again.
  if (before.service) delete before.service.tokenCommand
  expect(again).toEqual(before)
  expect(origins.limits).toMatchObject({ transfers: '--transfers', inIngestion: 'default' })
  expect(after.limits.inIngestion).toMatch(/pasted\.yaml:\d+$/)
  expect(configFile).toContain('config.yaml')
})

describe('config set, get and check', () => {
  test('config set changes one setting, and all else in the file stays', async () => {
    const commented = YAML.replace('maxSize: 50MB', 'maxSize: 50MB # not the videos').replace(
      'limits:',
      '\n# costs\nlimits:',
    )
    const { home, file } = homeWith(commented)
    chmodSync(file, 0o640)
    const set = async (...words: string[]) => {
      const { exitCode, stderr } = await home.shelfd(['config', 'set', ...words])
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Wrote "${words[0]}" into ${file}\n` })
    }
    await set('mirrors.papers.maxSize', '1GB')
    await set('limits.newPerRun', '500')
    await set('mirrors[0].ignore', '["/a, b/"]')
    const changed = commented
      .replace('50MB', '1GB')
      .replace('none', '500')
      .replace('["*.bak", "# odd"]', '[ "/a, b/" ]')
    expect(readFileSync(file, 'utf8')).toBe(changed)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    await set('mirrors.papers.settle', '20s')
    await set('timeZone', 'Europe/Berlin')
    const text = readFileSync(file, 'utf8')
    for (const kept of ['# not the videos', '\n# costs\n', 'settle: 20s', 'timeZone: Europe/Berlin'])
      expect(text).toContain(kept)
    for (const [key, value] of [
      ['mirrors.papers.ignore', '/a, b/'],
      ['limits.newPerRun', '500'],
      ['scrub.interval', '30d'],
    ])
      expect(await home.shelfd(['config', 'get', key ?? ''])).toEqual({ exitCode: 0, stdout: `${value}\n`, stderr: '' })
    expect((await home.shelfd(['config', 'check'])).stdout).toBe(
      `${file}: in order; 1 mirror into https://library.example.com\n`,
    )
  })

  test('config set and unset keep the comments that stand beside keys', async () => {
    const written = [
      'mirrors: # what is sent',
      '  - name: papers',
      '    path: /srv/papers',
      '    library: Research',
      '    ignore: # no copies',
      '      - "*.bak"',
      'limits: # of each run',
      '  newPerRun: 5 # few',
      'scrub: # never yet',
      'timeZone: # as the system',
    ]
    const { home, file } = homeWith(written.join('\n'))
    for (const words of [
      ['set', 'mirrors.papers.ignore', '["*.tmp"]'],
      ['set', 'mirrors.papers.settle', '20s'],
      ['set', 'limits.newPerDay', '50'],
      ['set', 'scrub.interval', '90d'],
      ['set', 'timeZone', 'Europe/Berlin'],
      ['unset', 'limits.newPerRun'],
    ])
      expect(await home.shelfd(['config', ...words])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual([
      ...written.slice(0, 5),
      '      - "*.tmp"',
      '    settle: 20s',
      'limits: # of each run',
      '  newPerDay: 50',
      'scrub: { interval: 90d } # never yet',
      'timeZone: Europe/Berlin # as the system',
    ])
  })

  test('config unset removes one setting, and the comments of all else stay', async () => {
    const { home, file } = homeWith(YAML.replace('limits:', '# costs\nlimits:'))
    expect((await home.shelfd(['config', 'unset', 'limits.newPerRun'])).stderr).toBe(
      `Removed "limits.newPerRun" from ${file}\n`,
    )
    expect((await home.shelfd(['config', 'get', 'limits.newPerRun'])).stdout).toBe('5000\n')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# costs')
    expectExit(await home.shelfd(['config', 'unset', 'limits.newPerRun']), 2, 'is not set in')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('config set writes nothing that would be wrong, and makes the file that is missing', async () => {
    const { home, file } = homeWith(YAML)
    for (const [key, value, said] of [
      ['limits.newPerRun', 'lots', 'Cannot set "limits.newPerRun": it must be a whole number'],
      ['limits.newPerRun', 'lots', ', not "lots"; nothing was written'],
      [
        'limits.newPrRun',
        '3',
        'Cannot set "limits.newPrRun": unknown key "newPrRun" in "limits" (did you mean "newPerRun"?)',
      ],
      ['mirrors.paper.settle', '3s', 'did you mean "papers"'],
    ] as const) {
      expectExit(await home.shelfd(['config', 'set', key, value]), 2, said)
      expect(readFileSync(file, 'utf8')).toBe(YAML)
    }
    expectExit(await home.shelfd(['config', 'get', 'limits.newPrRun']), 2, 'did you mean "newPerRun"')
    expect((await home.shelfd(['config', 'get', 'service.tokenCommand'])).stdout).not.toContain('canary')
    expectExit(await home.shelfd(['config', 'unset', 'mirrors.papers.path']), 2, 'Cannot unset "mirrors.papers.path": ')
    expect(readFileSync(file, 'utf8')).toBe(YAML)
    const empty = temporaryHome()
    expect((await empty.shelfd(['config', 'set', 'limits.transfers', '8'])).exitCode).toBe(0)
    expect((await empty.shelfd(['config', 'get', 'limits.transfers'])).stdout).toBe('8\n')
  })
})
