import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'
import { verifyUnit } from '../support/verify-unit.ts'
import { createHome, createStop } from './run-with.ts'

/** Takes the place of the programs of systemd, and records how it was called. */
const RECORDER = `#!/bin/sh
echo "$(basename "$0") $*" >> "$RECORD"
echo "token: \${SHELFD_TOKEN-none}" >> "$RECORD"
case " $FAILING " in *" $1 "* | *" $2 "*) echo "Failed to connect to bus" >&2; exit 1;; esac
if [ "$*" = "\${FOLLOWED-}" ]; then echo "first line"; exec sleep 600; fi
printf 'printed by %s\\n\\tindented \\033[31mred\\n' "$(basename "$0")"
`

const { home, shelfd } = createHome()
const unit = join(home, '.config', 'systemd', 'user', 'shelfd.service')
const record = join(home, 'record')
let env: Record<string, string>

beforeEach(() => {
  const bin = temporaryDirectory()
  for (const name of ['systemctl', 'journalctl']) {
    writeFileSync(join(bin, name), RECORDER)
    chmodSync(join(bin, name), 0o755)
  }
  writeFileSync(record, '')
  env = { PATH: `${bin}:${process.env.PATH}`, RECORD: record, SHELFD_TOKEN: 'very-secret' }
})

describe.runIf(process.platform === 'linux')('service install', () => {
  test('service install writes a unit systemd accepts and starts it', async () => {
    const config = join(writeTree(join(home, 'my conf'), { 'shelfd.yaml': 'mirrors: []\n' }), 'shelfd.yaml')
    const ended = await shelfd(['service', 'install', '--config', config], { env })
    expect(ended).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('loginctl enable-linger') })
    expect(calls()).toEqual(['--user daemon-reload', '--user enable shelfd.service', '--user restart shelfd.service'])
    const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
    expect(readFileSync(unit, 'utf8')).toContain(
      `\nExecStart="${process.execPath}" "${main}" "daemon" "--config" "${config}"\n`,
    )
    expect(statSync(unit).mode & 0o777).toBe(0o644)
    expect(await verifyUnit(unit, true)).toEqual([])
  })

  test('service install --no-start only enables the unit', async () => {
    const ended = await shelfd('service install --no-start --token-file ~/token --json', { env })
    expect(JSON.parse(ended.stdout)).toMatchObject({
      file: unit,
      ran: ['systemctl --user daemon-reload', 'systemctl --user enable shelfd.service'],
    })
    expect(readFileSync(unit, 'utf8')).toContain(`\nLoadCredential=token:${home}/token\n`)
    expect(readFileSync(unit, 'utf8')).not.toContain('--config')
  })

  test('service install keeps the configuration that the environment names', async () => {
    const file = join(writeTree(home, { 'other.yaml': '{}\n' }), 'other.yaml')
    await shelfd('service install', { env: { ...env, SHELFD_CONFIG: file } })
    expect(readFileSync(unit, 'utf8')).toContain(`"daemon" "--config" "${file}"\n`)
  })

  test('service install refuses a wrong configuration before anything happens', async () => {
    const file = join(writeTree(home, { 'wrong.yaml': 'mirors: []\n' }), 'wrong.yaml')
    const before = readFileSync(unit)
    expect(await shelfd(`service install --config ${file}`, { env })).toMatchObject({ exitCode: 2 })
    expect(readFileSync(unit)).toEqual(before)
    expect(calls()).toEqual([])
  })

  test('a file name cannot add lines to the unit', async () => {
    const file = join(writeTree(home, { 'a\nExecStartPre=x.yaml': '{}\n' }), 'a\nExecStartPre=x.yaml')
    expect(await shelfd(['service', 'install', '--config', file], { env })).toMatchObject({ exitCode: 2 })
  })

  test('service install names the step that failed, and why', async () => {
    const ended = await shelfd('service install', { env: { ...env, FAILING: 'enable' } })
    expect(ended).toMatchObject({ exitCode: 1 })
    expect(ended.stderr).toContain('"systemctl --user enable shelfd.service" failed\n  Failed to connect to bus')
  })

  test('every service command explains a systemd that cannot be reached, and leaves nothing', async () => {
    const without = { ...env, FAILING: 'show --property=Version' }
    const file = join(temporaryDirectory(), 'config')
    for (const verb of ['install', 'status', 'start', 'stop']) {
      const ended = await shelfd(`service ${verb}`, { env: { ...without, XDG_CONFIG_HOME: file } })
      expect({ verb, ...ended }).toMatchObject({ verb, exitCode: 2 })
      expect(ended.stderr).toMatch(/^shelfd: Cannot reach the systemd of user \w+: .*loginctl enable-linger.*--system/)
      expect(ended.stderr).not.toContain('connect to bus')
    }
    expect(existsSync(file)).toBe(false)
    expect(calls()).toEqual([])
    const ofMachine = await shelfd('service status --system', { env: without })
    expect(ofMachine).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^shelfd: Cannot reach systemd: /) })
    const nothing = await shelfd('service uninstall', { env: { ...without, XDG_CONFIG_HOME: file } })
    expect(nothing).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Nothing to remove') })
  })

  test('service install explains that systemd is missing', async () => {
    const ended = await shelfd('service install', { env: { PATH: temporaryDirectory() } })
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no program "systemctl"') })
  })
})

describe.runIf(process.platform === 'linux')('an installed service', () => {
  test('an installed service is removed, and its state stays', async () => {
    const state = writeTree(join(home, '.local', 'state', 'shelfd'), { 'store.db': 'kept' })
    await shelfd('service install', { env })
    writeFileSync(record, '')
    expect(await shelfd('service uninstall', { env })).toMatchObject({ exitCode: 0 })
    expect(calls()).toEqual(['--user disable --now shelfd.service', '--user daemon-reload'])
    expect(existsSync(unit)).toBe(false)
    expect(readFileSync(join(state, 'store.db'), 'utf8')).toBe('kept')
    expect(await shelfd('service uninstall', { env: { ...env, FAILING: 'disable' } })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Nothing to remove'),
    })
  })

  test.each(['start', 'stop'])('an installed service is asked to %s', async (verb) => {
    expect(await shelfd(`service ${verb}`, { env })).toMatchObject({ exitCode: 0 })
    expect(await shelfd(`service ${verb} --system`, { env: { ...env, FAILING: 'shelfd.service' } })).toMatchObject({
      exitCode: 1,
    })
    expect(calls()).toEqual([`--user ${verb} shelfd.service`, `${verb} shelfd.service`])
  })

  test('the status of a service is shown without terminal codes', async () => {
    const shown = await shelfd('service status', { env })
    expect(shown).toMatchObject({ exitCode: 0, stdout: 'printed by systemctl\n\tindented \\x1b[31mred\n' })
    expect(calls()).toEqual(['--user status --no-pager --full shelfd.service'])
    expect(await shelfd('service status', { env: { ...env, FAILING: 'status' } })).toMatchObject({ exitCode: 1 })
  })

  test('the logs of a service are shown until the command is stopped', async () => {
    await shelfd('service logs --system -n 7', { env })
    const args = '--no-pager --unit shelfd.service --lines 7'
    expect(calls()).toEqual([args])
    const { signal, stop } = createStop()
    const followed = { ...env, FOLLOWED: `--user ${args} --follow` }
    const onStdout = (text: string) => text.includes('first line') && stop()
    const ended = await shelfd('service logs -n 7 -f', { env: followed, signal, onStdout })
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'first line\n' })
    expect(await shelfd('service logs -n -1', { env })).toMatchObject({ exitCode: 2 })
  })
})

/** Arguments of every call; none was given the access token. */
function calls(): string[] {
  const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean)
  expect(lines.filter((line) => line.startsWith('token: ') && line !== 'token: none')).toEqual([])
  const made = lines.filter((line) => !line.startsWith('token: ')).map((line) => line.replace(/^\w+ /, ''))
  // The question whether systemd answers.
  return made.filter((line) => !line.endsWith('show --property=Version'))
}
