/** The output of `config show` can be pasted into a configuration file, names the origin of each value, and hides secrets. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Home, temporaryHome } from '../support/home.ts'

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

describe('config show', () => {
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
})
