/** How typed words are read, for every kind of flag and argument; nothing here runs a command. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readSettings } from '../../src/app/settings/read-settings.ts'
import { optionsOf } from '../../src/cli/global-options.ts'
import { findCommand } from '../../src/cli/parser/find-command.ts'
import { readCommandLine } from '../../src/cli/parser/read-command-line.ts'
import { shownValue } from '../../src/cli/parser/render-help.ts'
import { UsageError } from '../../src/foundation/errors.ts'

async function read(...argv: readonly string[]) {
  const found = findCommand(argv)
  const line = await readCommandLine(found, await found.entry?.load())
  return { name: found.entry?.name, flags: line?.flags, args: line?.args }
}

/** The message of the usage error; fails when the words are accepted. */
async function mistakeOf(...argv: readonly string[]): Promise<string> {
  const error = await read(...argv).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(UsageError)
  return error instanceof UsageError ? error.message : ''
}

describe('flags', () => {
  test('flags not given are off, empty or their default', async () => {
    const { flags, args } = await read('sync')
    expect(flags).toEqual({
      config: undefined,
      json: false,
      quiet: false,
      color: 'auto',
      verbosity: 0,
      settingFlags: {},
    })
    expect(args).toMatchObject({ mirrors: [], dryRun: false, noWait: false, to: undefined })
    expect((await read('serve')).args).toMatchObject({ host: '127.0.0.1', port: 0 })
    expect((await read('search', 'x')).args).toMatchObject({ library: [], compact: false, limit: undefined })
  })

  test('an argument is the same whether other flags are given or not', async () => {
    const [alone, beside] = [await read('report'), await read('report', '--json')]
    expect(beside.args).toEqual({ ...alone.args, json: true })
  })

  test.each([
    [['-v'], 1],
    [['-vv'], 2],
    [['-v', '-v'], 2],
    [['--verbose', '-v', '--verbose'], 3],
  ])('the verbosity flags %j are counted', async (given, verbosity) => {
    expect((await read('status', ...given)).flags).toMatchObject({ verbosity })
  })

  test('a flag that is shown with a number takes one', async () => {
    const command = await findCommand(['config', 'show']).entry?.load()
    const options = Object.entries(command ? optionsOf(command) : {})
    const numbered = options.filter(([, spec]) => shownValue(spec).value === 'N').map(([flag]) => flag)
    expect(numbered.length).toBeGreaterThan(3)
    for (const flag of numbered) {
      const settings = () => readSettings({ flags: { config: undefined, [flag]: '5' }, env: {}, cwd: '/', home: '/' })
      expect(settings, flag).not.toThrow()
    }
  })

  test('flags may stand before, between and after the words of the command', async () => {
    const lines = [
      ['-n', '--config', 'c.yaml', 'sync', 'papers', '--transfers', '3'],
      ['--transfers', '3', 'sync', '-n', 'papers', '--config', 'c.yaml'],
      ['sync', 'papers', '--transfers=3', '--dry-run', '--config=c.yaml'],
    ]
    const [first, ...others] = await Promise.all(lines.map((line) => read(...line)))
    expect(first).toMatchObject({
      name: 'sync',
      flags: { config: 'c.yaml', settingFlags: { transfers: '3' } },
      args: { mirrors: ['papers'], dryRun: true },
    })
    for (const other of others) expect(other).toEqual(first)
    expect(await read('failed', '--all', 'list')).toEqual(await read('failed', 'list', '--all'))
  })

  test('a flag takes everything after the first equals sign', async () => {
    expect((await read('api', 'POST', '/x', '--data={"a":"=--b"}')).args).toMatchObject({ data: '{"a":"=--b"}' })
    expect((await read('sync', 'x', '--to=')).args).toMatchObject({ to: '' })
  })

  test('a repeated flag counts the last time, unless it is a list', async () => {
    const { args } = await read('search', '--limit', '1', '--library', 'a', '--limit=2', '--library=b', 'x')
    expect(args).toMatchObject({ limit: 2, library: ['a', 'b'], query: ['x'] })
  })

  test('a switch does not swallow the word that follows', async () => {
    expect((await read('search', '--json', 'true', 'crime', '--compact', 'false', 'start')).args).toMatchObject({
      query: ['true', 'crime', 'false', 'start'],
    })
    expect((await read('sync', '--no-wait', 'papers')).args).toMatchObject({ noWait: true, mirrors: ['papers'] })
  })

  test('flags take negative numbers, and texts that look like numbers', async () => {
    expect((await read('service', 'logs', '-n', '5')).args).toMatchObject({ lines: 5 })
    expect(await mistakeOf('service', 'logs', '--lines=-5')).toContain('must be a whole number from 0 to 1000000')
    expect((await read('service', 'logs', '--lines=0')).args).toMatchObject({ lines: 0 })
    expect((await read('resource', 'download', '0x10', '-o', '007')).args).toMatchObject({ id: '0x10', output: '007' })
  })
})

test('arguments after -- are taken unchanged', async () => {
  expect((await read('why', '--', '-draft.md')).args).toMatchObject({ path: '-draft.md' })
  expect((await read('search', 'a', '--', '--json', '--', 'b')).args).toMatchObject({
    json: false,
    query: ['a', '--json', '--', 'b'],
  })
})

test('arguments may be words that mean something elsewhere', async () => {
  expect((await read('search', 'how', 'to', 'get', 'help')).args).toMatchObject({ query: ['how', 'to', 'get', 'help'] })
  expect((await read('sync', 'completion')).args).toMatchObject({ mirrors: ['completion'] })
  expect((await read('pause', 'status')).name).toBe('pause')
})

test.each([
  [['sync', '--dry'], 'Cannot understand the flag --dry (did you mean "--dry-run"?)'],
  [['status', '-x'], 'Cannot understand the flag -x'],
  [['status', '--a.b', '1'], 'Cannot understand the flag --a.b'],
  [['sync', '--mirrors', 'x'], 'Cannot understand the flag --mirrors'],
  [['sync', '--dryRun'], 'Cannot understand the flag --dryRun (did you mean "--dry-run"?)'],
  [['status', '--no-json'], 'Cannot understand the flag --no-json (did you mean "--json"?)'],
  [['sync', '--no-config', 'x'], 'Cannot understand the flag --no-config (did you mean "--config"?)'],
  [['sync', '--no-wait=yes'], 'Cannot use --no-wait with a value: it is a switch, so write --no-wait alone'],
  [['status', '-q=1'], 'Cannot use -q with a value: it is a switch, so write -q alone'],
  [['status', '-v=2'], 'Cannot use -v with a value: it is a switch, so write -v alone'],
  [['sync', '--to'], 'Cannot use --to without a value'],
  [['sync', '--to', '--json'], 'Cannot use --to without a value'],
  [['asset', 'download', 'x', '-o'], 'Cannot use -o without a value'],
  [['search', 'x', '--library'], 'Cannot use --library without a value'],
  [['search', 'x', '--limit', 'many'], 'Cannot use "many" for --limit: it must be a whole number from 1 to 1000'],
  [['search', 'x', '--limit='], 'Cannot use "" for --limit: it must be a whole number from 1 to 1000'],
  [['status', '--log-format', 'xml'], 'Cannot use "xml" for --log-format: it is one of text, json'],
  [['completion', 'tcsh'], 'Cannot use "tcsh" for SHELL: it is one of bash, zsh, fish'],
  [['asset', 'frame', 'x'], 'Cannot run without --at: Where in the video'],
  [['mkdir'], 'Cannot run without LIBRARY:/path: Library and directory'],
  [['api', 'GET'], 'Cannot run without PATH: Path below /api, such as /v1/libraries?limit=5'],
  [['search'], 'Cannot run without QUERY: What to look for'],
  [['config', 'path', 'more'], 'Cannot understand "more": there is no place for a further argument'],
  [['status', '--', '-x'], 'Cannot understand "-x": there is no place for a further argument'],
  [['ls', 'a', 'b', 'c'], 'Cannot understand "b": there is no place for a further argument'],
  [['synk'], 'Cannot run "synk": unknown command (did you mean "sync"?)'],
  [['nonsense', '--json'], 'Cannot run "nonsense": unknown command'],
  [['config', 'pth'], 'Cannot run "config pth": unknown command (did you mean "config path"?)'],
  [
    ['serve', 'tokens', 'creat'],
    'Cannot run "serve tokens creat": unknown command (did you mean "serve tokens create"?)',
  ],
  [['--jsn'], 'Cannot understand the flag --jsn (did you mean "--json"?)'],
])('the mistake in %j is explained', async (argv, message) => {
  expect(await mistakeOf(...argv)).toBe(message)
})

describe('yargs', () => {
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  })

  test('yargs prints nothing, ends nothing and follows no locale', async () => {
    const silent = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    const printed = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error'), vi.spyOn(process, 'emitWarning')]
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('ended')
    })
    for (const name of ['LC_ALL', 'LC_MESSAGES', 'LANG', 'LANGUAGE']) vi.stubEnv(name, 'de_DE.UTF-8')
    expect(await mistakeOf('status', '--bogus')).toBe('Cannot understand the flag --bogus')
    expect(await mistakeOf('synk')).toContain('did you mean "sync"?')
    await read('status', '--version', '--help')
    for (const spy of [...silent, ...printed, exit]) expect(spy).not.toHaveBeenCalled()
  })
})
