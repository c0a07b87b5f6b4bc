/** What the program answers to a typed line: version, help, mistyped words, and fatal errors in JSON. */
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'

describe('version and help', () => {
  test.each([['-V'], ['version'], ['--version']])('%s prints the version', async (word) => {
    const home = temporaryHome()
    expect(await home.shelfd([word])).toEqual({ exitCode: 0, stdout: `${packageJson.version}\n`, stderr: '' })
  })

  test.each([
    [['help'], ['--help']],
    [
      ['help', 'sync'],
      ['sync', '--help'],
    ],
    [
      ['help', 'serve', 'tokens'],
      ['serve', 'tokens', '--help'],
    ],
  ])('%s prints the same as %s', async (words, flag) => {
    const home = temporaryHome()
    const outcome = await home.shelfd(words)
    expect(outcome).toEqual(await home.shelfd(flag))
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('help of an unknown command names the nearest', async () => {
    expectExit(await temporaryHome().run(['help', 'synk']), 2, 'did you mean "sync"?')
  })
})

test.each([
  [['sync', '--dry'], 'Cannot understand the flag --dry (did you mean "--dry-run"?)'],
  [['sync', '--max-dur', '2h'], 'did you mean "--max-duration"?'],
  [['status', '--json=foo'], 'Cannot use --json with a value: it is a switch, so write --json alone'],
  [['sync', '--no-wait=yes'], 'Cannot use --no-wait with a value'],
  [['status', '-q=1'], 'Cannot use -q with a value'],
  [['sync', '--no-config', 'x'], 'Cannot understand the flag --no-config'],
  [['config', 'path', '--config'], 'Cannot use --config without a value'],
  [['search', 'x', '--limit', 'NaN'], 'Cannot use "NaN" for --limit: it must be a whole number from 1 to 1000'],
])('the mistyped line %j is explained in plain words', async (words, message) => {
  const home = temporaryHome()
  const { exitCode, stdout, stderr } = await home.shelfd(words)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/arguments following|Invalid input|received/)
})

describe('fatal errors in JSON', () => {
  const typed = ['report', '--log-format', 'json']

  test('a fatal error is one line of JSON with --log-format json', async () => {
    const { exitCode, stdout, stderr } = await temporaryHome().run(typed)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'error',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      code: 'unknown-mirror',
      msg: expect.stringContaining('Nothing was mirrored yet'),
      hint: expect.stringContaining('shelfd'),
      exitCode: 2,
    })
  })

  test.each([
    [['sync', '--bogus', '--log-format=json'], {}, 'bad-usage'],
    [['nonsense', '--log-format', 'json'], {}, 'bad-usage'],
    [['status', '--json', '--bogus'], { SHELFD_LOG_FORMAT: 'json' }, 'bad-usage'],
  ])('the mistyped line %j fails in JSON', async (words, env, code) => {
    const { exitCode, stderr } = await temporaryHome().shelfd(words, env)
    expect(exitCode).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', code, exitCode: 2 })
  })

  test('a fatal error follows the configured log format', async () => {
    const configured = temporaryHome()
    configured.write('config/shelfd', { 'config.yaml': 'log: { format: json }\n' })
    const { stderr } = await configured.shelfd(['report'])
    expect(JSON.parse(stderr)).toMatchObject({ code: 'unknown-mirror', exitCode: 2 })
  })
})

test('a run limited to a month is not cut short', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  expect(await home.sync(['Papers', '--max-duration', '30d'])).toMatchObject({
    exitCode: 0,
    mirror: { uploads: { created: 1 } },
  })
})
