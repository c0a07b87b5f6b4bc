import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands, GROUP_SUMMARIES } from '../../src/cli/commands.ts'
import { typedInCheckout } from '../../src/cli/commands-as-typed.ts'
import { createHome, createStop } from './run-with.ts'

const { home, shelfd } = createHome()

test('help lists the commands of a group', async () => {
  const { stdout, exitCode } = await shelfd('config --help --all')
  expect(exitCode).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
      "shelfd config COMMAND

      The configuration.

      Commands:
        shelfd config show    Show the configuration that is in force
        shelfd config check   Say whether the configuration is right
        shelfd config get     Print the value of one setting
        shelfd config set     Write one setting into the configuration file
        shelfd config unset   Remove one setting from the configuration file
        shelfd config path    Print where the configuration is read from
        shelfd config schema  Print the JSON Schema of the configuration file

      Global flags:
            --config      Configuration file [FILE]
            --state-dir   Directory for the state of shelfd [DIR]
            --json        Print data as JSON
        -q, --quiet       Log errors only
        -v, --verbose     Log more, and name each file that is sent; twice also shows the traces of errors
            --log-format  Log as text or json [text|json]
            --color       Use colours in text [auto|always|never, default auto]
        -V, --version     Print the version
        -h, --help        Print this help

      Exit codes:
        0    done
        1    some files or ingestions failed
        2    usage or configuration
        3    a mirror's directory is missing or unreadable
        4    everything sent, ingestion still pending at the deadline
        5    temporary, run again (service unreachable or throttling)
        7    refused (credential, rights, wrong tenant)
        8    held back by a limit or a guard
        11   another instance holds the store
        78   an operator must act (store damaged or of a newer version)
        130  interrupted

      shelfd help COMMAND, or COMMAND --help, describes one command; shelfd version prints the version.
      "
    `)
})

test('help of a command has its arguments, examples and exit codes', async () => {
  const { stdout } = await shelfd('mkdir --help --all')
  expect(stdout.replace(/\nGlobal flags:\n(?: .*\n)+/, '')).toMatchInlineSnapshot(`
      "shelfd mkdir LIBRARY:/path [FLAGS]

      Create a directory in a library.

      Needs the right update on the library. An existing directory is not an error.

      Arguments:
        LIBRARY:/path  Library and directory

      Flags:
        -p, --parents      Create the directories above it too
            --data-dir     Directory for the data of the embedded library [DIR]
            --service-url  Origin of the service [URL]
            --ca-file      PEM file with certificates of further trusted authorities [FILE]

      Examples:
        shelfd mkdir -p Research:/Papers/2026  create /Papers and /Papers/2026

      Exit codes:
        0    done
        1    some files or ingestions failed
        2    usage or configuration
        5    temporary, run again (service unreachable or throttling)
        7    refused (credential, rights, wrong tenant)
        130  interrupted
      "
    `)
})

test('help goes to stdout when asked for, to stderr without a command', async () => {
  const asked = await shelfd('--help')
  const missing = await shelfd('')
  expect(asked).toMatchObject({ exitCode: 0, stderr: '' })
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
  expect(missing.stderr).toBe(asked.stdout)
  const lists = [asked.stdout]
  const parents = [...Object.keys(GROUP_SUMMARIES), 'serve']
  for (const parent of parents) lists.push((await shelfd(`${parent} --help`)).stdout)
  for (const { name, summary } of commands) expect(lists.join()).toMatch(new RegExp(`  shelfd ${name} +${summary}\n`))
})

test('help of a group that lists says so', async () => {
  const { stdout } = await shelfd('failed --help')
  expect(stdout).toMatch(/^shelfd failed \[list\] \[FLAGS\]\n\nList the files that were refused/)
  expect(stdout).toContain('  shelfd failed retry ')
})

test('help without --all leaves out what is alike, and that of sync fits a screen of 80 columns and 24 lines', async () => {
  const { stdout } = await shelfd('sync --help', { isTerminal: true, columns: 80 })
  expect(stdout).not.toMatch(/Global flags:|Exit codes:|--bwlimit|--adopt|When a daemon holds/)
  const [own = '', more] = stdout.split('\n\nshelfd sync --help --all')
  expect(more).toBe(' shows all flags and the exit codes.\n')
  expect(own.split('\n').length).toBeLessThanOrEqual(24)
  const whole = (await shelfd('sync --help --all')).stdout
  for (const text of ['--bwlimit', '--adopt', 'When a daemon holds']) expect(whole).toContain(text)
  const all = (await shelfd('help')).stdout
  expect(all).toMatch(
    /\nEvery day:\n[\s\S]*\nFor programs, and the interface by hand:\n[\s\S]*\nDaemon, library on this computer,/,
  )
  expect(all.match(/^ {2}shelfd daemon /gm)).toHaveLength(1)
})

const own = commands.filter(({ name }) => !['sync', 'report', 'status', 'why'].includes(name))
test.each(own)('help of $name has examples and exit codes', async ({ name, load }) => {
  const { stdout, exitCode } = await shelfd(`${name} -h --all`)
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`shelfd ${name}`)
  expect(stdout).toMatch(/\n\nExamples:\n {2}shelfd .+\n(?:.*\n)*\nExit codes:\n {2}0 {4}done\n/)
  expect(stdout).toContain('130  interrupted')
  const command = await load()
  for (const [line] of command.examples) expect(`${line} `).toContain(`${name} `)
})

test.each([
  ['confg path', 'did you mean "config"?'],
  ['config pth', 'did you mean "config path"?'],
  ['libraries lst', 'did you mean "libraries list"?'],
  ['serve tokens creat', 'did you mean "serve tokens create"?'],
  ['libraries Research', 'Cannot run "libraries Research": unknown command\n  shelfd libraries --help shows'],
  ['config path --jsn', 'did you mean "--json"?'],
  ['--jsn', 'did you mean "--json"?'],
  ['config path more', 'Cannot understand "more"'],
  ['mkdir', 'Cannot run without LIBRARY:/path'],
  ['config path --log-format xml', 'it is one of text, json'],
  ['config path --config', 'Cannot use --config without a value'],
  ['search x --limit many', 'it must be a whole number from 1 to 1000'],
  ['asset frame x', 'Cannot run without --at'],
])('the usage error of "%s" names what is near', async (line, message) => {
  const { exitCode, stdout, stderr } = await shelfd(line)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).toMatch(/^shelfd: Cannot .+\n {2}shelfd .*--help .+\n$/)
})

describe('the command line', () => {
  test.each(['failed', 'mirrors', 'libraries', 'serve tokens'])('"%s" alone lists', async (group) => {
    for (const flags of ['', ' --json']) {
      const listed = await shelfd(`${group} list${flags}`)
      expect(await shelfd(`${group}${flags}`)).toEqual(listed)
      expect(`${listed.stdout}${listed.stderr}`).not.toContain('Commands:')
    }
    expect(await shelfd(`${group} lst`)).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('what commands show of one thing fits the terminal, with local times', async () => {
    const wide = { isTerminal: true, columns: 60 }
    const whoami = await shelfd('whoami', wide)
    expect(whoami.stdout).toContain('\nabilities ')
    for (const line of whoami.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    expect((await shelfd('libraries create Research')).exitCode).toBe(0)
    expect((await shelfd('libraries show Research')).stdout).toMatch(/^created +\d{4}-\d\d-\d\d \d\d:\d\d$/m)
  })

  test('a host is no command of the group before it', async () => {
    expect((await shelfd('failed --host nas')).stderr).toContain('no section "fleet"')
  })

  test('global flags may stand before and after the command', async () => {
    const file = join(home, 'c.yaml')
    writeFileSync(file, 'limits: { transfers: 3 }')
    const before = await shelfd(`--config ${file} --json config show --transfers 5`)
    const after = await shelfd(`config show --json --config ${file} --transfers=5`)
    expect(before).toEqual(after)
    expect(JSON.parse(before.stdout)).toMatchObject({ configFile: file, limits: { transfers: 5 } })
  })

  test('the last of several equal flags wins', async () => {
    const { stdout } = await shelfd('config show --json --transfers 5 --transfers 6')
    expect(JSON.parse(stdout)).toMatchObject({ limits: { transfers: 6 } })
  })
})

describe('errors', () => {
  test('an error is one line and a hint, with a trace under -vv', async () => {
    writeFileSync(join(home, 'bad.yaml'), 'mirrors: 3')
    const plain = await shelfd('config show --config bad.yaml')
    expect({ ...plain, stderr: plain.stderr.replaceAll(home, '~') }).toMatchInlineSnapshot(`
      {
        "exitCode": 2,
        "stderr": "shelfd: Cannot read the configuration: ~/bad.yaml:1: "mirrors" must be a list of mirrors, not 3
        shelfd --config bad.yaml config path shows which file is read, shelfd --config bad.yaml config schema its keys
      ",
        "stdout": "",
      }
    `)
    expect((await shelfd('config show --config bad.yaml -v')).stderr).not.toContain(' at ')
    expect((await shelfd('config show --config bad.yaml -vv')).stderr).toContain(' at ')
    expect((await shelfd('config show --config bad.yaml -v -v')).stderr).toContain(' at ')
  })

  test('a message is wrapped on a terminal only, and names commands as they are typed here', async () => {
    const line = 'config show --config a-file-with-a-long-name-that-does-not-exist-in-this-directory.yaml'
    const piped = (await shelfd(line)).stderr.split('\n')
    expect(piped[0]?.length).toBeGreaterThan(80)
    const flags = '--config a-file-with-a-long-name-that-does-not-exist-in-this-directory.yaml'
    expect(piped[1]).toBe(
      `  shelfd ${flags} config path shows which file is read, shelfd ${flags} config schema its keys`,
    )
    const { stderr } = await shelfd(line, {
      isTerminal: true,
      columns: 60,
      asTyped: typedInCheckout('/shelfd/src/start.ts', '/'),
    })
    expect(stderr.replaceAll(/\n +/g, ' ')).toContain(
      ` npm start -- ${flags} config path shows which file is read, npm start -- ${flags} config schema its keys`,
    )
    expect(
      stderr.split('\n').filter((each) => each.includes(' ', 2) && each.length > 60 && !each.includes('/')),
    ).toEqual([])
  })

  test('the doctor wraps its lines with commands as they are typed here', async () => {
    const asTyped = typedInCheckout('/a/checkout/that/lies/rather/deep/src/main.ts', '/')
    const { stdout } = await shelfd('doctor', { isTerminal: true, columns: 80, asTyped, env: { LANG: 'C' } })
    expect(stdout).toMatch(/\n {25}"\/a\/checkout/)
    expect(stdout).not.toMatch(/^ {1,9}\S/m)
  })

  test.each([
    ['/home/ada/shelfd/src/main.ts', '/home/ada/shelfd', 'node_modules/.bin/node src/main.ts'],
    ['/opt/shelfd/src/main.ts', '/home', '/opt/shelfd/node_modules/.bin/node /opt/shelfd/src/main.ts'],
    ['/opt/shelfd/src/start.ts', '/home', 'npm start --'],
    ['/usr/lib/shelfd/main.js', '/home', undefined],
  ])('commands are named as %s is run in %s', (script, directory, program = 'shelfd') => {
    const asTyped = typedInCheckout(script, directory) ?? String
    const text = (typed: string) =>
      `See "${typed} sync DIR"; ${'shelfd'} keeps shelfd report.md (${typed} why) · ${typed} get`
    expect(asTyped(text('shelfd'))).toBe(text(program))
  })

  test('help names what is typed for the program in a checkout', async () => {
    const { stdout } = await shelfd('whoami --help', { asTyped: typedInCheckout('/shelfd/src/start.ts', '/') })
    expect(stdout.split('\n').at(-2)).toBe('In this checkout, type "npm start --" for "shelfd".')
    expect((await shelfd('whoami --help')).stdout).not.toContain('checkout')
  })

  test('a command that a message suggests keeps the configuration and the state that were named', async () => {
    const { stderr } = await shelfd(['status', '--state-dir', 'my state', '--config', 'none.yaml'])
    expect(stderr).toContain("shelfd --config none.yaml --state-dir 'my state' config path")
    const { stderr: advice } = await shelfd(['history', '--state-dir=other'])
    expect(advice).toContain('see "shelfd --state-dir other sync --help"')
    const { stderr: odd } = await shelfd(['history', '--state-dir=a$$b\u001b[1m'])
    expect(odd).toContain('see "shelfd --state-dir \'a$$b\\x1b[1m\' sync --help"')
  })

  test('an error cannot write to the terminal [F-FS-13]', async () => {
    const { stderr } = await shelfd(['config', 'x\u001b[2J\u202e'])
    expect(stderr).toContain('config x\\x1b[2J\\u{202e}')
  })

  test('an interrupted command ends with 130', async () => {
    const { signal, stop } = createStop()
    stop()
    expect(await shelfd('config path', { signal })).toMatchObject({ exitCode: 130 })
  })
})

test('config path prints the file in force', async () => {
  expect(await shelfd('config path')).toMatchObject({ exitCode: 0, stdout: '' })
  expect(await shelfd('config path --json')).toMatchObject({ stdout: '{"path":null}\n' })
  expect(await shelfd('config path', { env: { SHELFD_CONFIG: 'bad.yaml' } })).toMatchObject({
    stdout: `${join(home, 'bad.yaml')}\n`,
  })
})

test('config schema prints JSON', async () => {
  expect(JSON.parse((await shelfd('config schema')).stdout)).toMatchObject({ type: 'object' })
})
