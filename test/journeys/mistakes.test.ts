/** Mistakes that people make, and what shelfd answers: what could not be done, to what, why, and what to do next. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import {
  expectExit,
  expectParts,
  type Home,
  homeWithPapers,
  temporaryHome,
  type Variables,
  variablesOf,
} from '../support/home.ts'

interface Mistake {
  readonly mistake: string
  /** Makes the mistake and returns the command line that meets it; `service` has the library "Research". */
  readonly make: (
    home: Home,
    service: { readonly url: string; readonly token: string },
  ) => CommandLine | Promise<CommandLine>
  readonly exit: number
  /** What the message names: the thing, the reason, and the next step, in this order. */
  readonly says: readonly string[]
}

type CommandLine = readonly [args: readonly string[], env?: Variables]

const MISTAKES: readonly Mistake[] = [
  configured('a mistyped key', 'mirors: []', ['config.yaml:1', 'unknown key "mirors"', 'did you mean "mirrors"']),
  configured('a value of the wrong type', 'limits: { transfers: many }', [
    'limits.transfers',
    'a whole number',
    '"many"',
  ]),
  configured('YAML that is not closed', 'mirrors: [', ['config.yaml:1', 'not valid YAML', 'not closed']),
  configured('a variable that is not set', `service: { url: "\${NOPE}" }`, ['NOPE is not set', `\${NOPE:-default}`]),
  configured('a rule that is no text', 'mirrors: [{ name: a, path: /a, ignore: [3] }]', [
    'ignore[0]',
    'must be a text',
  ]),
  configured('two mirrors of one name', 'mirrors: [{ name: a, path: /a }, { name: a, path: /b }]', [
    'named "a"',
    'config',
  ]),
  configured('a schedule with a minute 61', 'mirrors: [{ name: a, path: /a, schedule: "61 * * * *" }]', [
    'schedule',
    'its minute',
  ]),
  given('a configuration file that is not there', ['sync', '--config', 'nope.yaml'], 2, ['nope.yaml', 'config path']),
  given('an unknown command', ['snyc'], 2, ['"snyc"', 'did you mean "sync"']),
  given('a mistyped flag', ['sync', '--dryrun'], 2, ['--dryrun', 'did you mean "--dry-run"']),
  given('nothing to mirror', ['sync'], 2, ['Nothing to mirror', 'shelfd sync DIR']),
  given('a duration in words', ['sync', '.', '--wait-timeout', 'soon'], 2, ['--wait-timeout "soon"', '90s, 30m or 2h']),
  given('a number in words', ['sync', '.', '--max-new', 'abc'], 2, [
    'shelfd: --max-new must be',
    '"abc"',
    'sync --help',
  ]),
  given('a size in words', ['sync', '.', '--max-new-bytes', 'lots'], 2, ['--max-new-bytes', '50MB', '"lots"']),
  given('a directory that is not there', ['sync', 'Papers'], 3, ['/Papers"', 'does not exist', 'mount its disk']),
  {
    mistake: 'a mistyped directory beside a configured service',
    make: (home, service) => {
      home.write('Documents', {})
      return [['sync', './Docments'], variablesOf(service)]
    },
    exit: 3,
    says: ['/Docments"', 'does not exist', 'did you mean "', '/Documents"?'],
  },
  given('the whole home directory', ['sync', '.'], 8, ['whole home directory', '--yes']),
  given('a class that is none', ['report', '--only', 'new'], 2, ['--only: "new"', 'local-only', 'report --help']),
  given('a class to fail on that is none', ['report', '--check', '--fail-on', 'nothing'], 2, ['--fail-on: "nothing"']),
  given('--fail-on without --check', ['report', '--fail-on', 'changed'], 2, ['--fail-on needs --check']),
  given('a report before the first sync', ['report'], 2, ['Nothing was mirrored yet', 'shelfd sync --help']),
  given('an identifier that is none', ['resource', 'show', 'nope'], 1, [
    'resource "nope"',
    'no readable library',
    'shelfd search',
  ]),
  given('a port that is none', ['serve', '--port', '99999'], 2, ['--port', '0 to 65535']),
  {
    mistake: 'a file instead of a directory',
    make: (home) => {
      home.write('.', { 'note.md': 'x' })
      return [['sync', 'note.md']]
    },
    exit: 3,
    says: ['note.md"', 'not a directory', 'name the directory that holds it'],
  },
  {
    mistake: 'a path in no mirror',
    make: async (home) => {
      home.write('Papers', { a: 'x' })
      await home.sync(['Papers'])
      return [['why', '/etc/hosts']]
    },
    exit: 2,
    says: ['"/etc/hosts"', 'lies in no mirror', '/Papers', 'mirrors list'],
  },
  {
    mistake: 'a mirror within a mirror',
    make: (home) => {
      const inner = join(home.write('Papers', { 'notes/a.md': 'x' }), 'notes')
      const mirrors = `[{ name: a, path: ${home.path}/Papers }, { name: b, path: ${inner} }]`
      home.write('config/shelfd', { 'config.yaml': `mirrors: ${mirrors}` })
      return [['sync']]
    },
    exit: 2,
    says: ['"b" lies in the mirror "a"', 'sent twice', 'add "/notes/" to "ignore"'],
  },
  {
    mistake: 'no token',
    make: (_, { url }) => [['whoami'], { SHELFD_SERVICE_URL: url }],
    exit: 7,
    says: ['no access token', 'service.tokenFile', 'shelfd doctor'],
  },
  {
    mistake: 'a token file that is not there',
    make: ({ path }, { url }) => [['whoami'], { SHELFD_SERVICE_URL: url, SHELFD_TOKEN_FILE: join(path, 'token') }],
    exit: 7,
    says: ['/token"', 'no such file', 'mode 0600'],
  },
  {
    mistake: 'a token file that others can read',
    make: (home, { url }) => {
      writeFileSync(join(home.path, 'token'), 'secret', { mode: 0o644 })
      return [['whoami'], { SHELFD_SERVICE_URL: url, SHELFD_TOKEN_FILE: join(home.path, 'token') }]
    },
    exit: 2,
    says: ['/token"', 'others can read it', 'chmod 600'],
  },
  {
    mistake: 'a wrong token',
    make: (_, { url, token }) => [['whoami'], variablesOf({ url, token: `${token.slice(0, -1)}!` })],
    exit: 7,
    says: ['401', 'comes from SHELFD_TOKEN', 'shelfd doctor'],
  },
  {
    mistake: 'a token of two lines',
    make: (_, { url, token }) => [['whoami'], variablesOf({ url, token: `${token}\n${token}` })],
    exit: 2,
    says: ['SHELFD_TOKEN', 'must be one line'],
  },
  addressed('an address without a scheme', 'library.example.com', 2, [
    'SHELFD_SERVICE_URL',
    'does not begin with https://',
  ]),
  addressed('an address with a path', 'https://library.example.com/api', 2, ['SHELFD_SERVICE_URL', 'it has a path']),
  addressed('http to another computer', 'http://library.example.com', 2, [
    'SHELFD_SERVICE_URL',
    'only a loopback host',
  ]),
  addressed('a host that is not there', 'https://library.invalid', 5, [
    'library.invalid',
    // Not found, or, on a machine without a network, not answered by a name server.
    'name ',
    'shelfd doctor',
  ]),
  addressed('a port where nobody listens', 'http://127.0.0.1:9', 5, [
    '127.0.0.1:9',
    'connection refused',
    'shelfd doctor',
  ]),
  {
    mistake: 'a CA file that is not there',
    make: () => [['whoami', '--ca-file', 'ca.pem'], variablesOf({ url: 'https://127.0.0.1:9', token: 'a-token' })],
    exit: 2,
    says: ['ca.pem"', 'no such file'],
  },
  mirrored('a library that is none', ['--to', 'Reserch'], ['library "Reserch"', 'libraries create', 'libraries list']),
  mirrored(
    'a path in a library that does not begin with a slash',
    ['--to', 'Research:x'],
    ['"Research:x"', 'LIBRARY:/path'],
  ),
  mirrored('no library for a directory', [], ['"Papers"', '--to LIBRARY']),
  {
    mistake: 'a store that is no database',
    make: (home) => {
      mkdirSync(home.stateDir, { recursive: true })
      writeFileSync(join(home.stateDir, 'store.db'), 'these are words, and no database at all. '.repeat(200))
      home.write('Papers', { a: 'x' })
      return [['sync', 'Papers']]
    },
    exit: 78,
    says: ['store.db"', 'not a database', 'restore the whole directory', '.damaged'],
  },
  {
    mistake: 'a store of a newer version',
    make: async (home) => {
      home.write('Papers', { a: 'x' })
      await home.sync(['Papers'])
      const database = new Database(join(home.stateDir, 'store.db'))
      database.pragma('user_version = 900')
      database.close()
      return [['sync', 'Papers']]
    },
    exit: 78,
    says: ['store.db"', 'a newer version', 'version 900', 'install the newer shelfd'],
  },
  {
    mistake: 'a file where the state belongs',
    make: (home) => {
      home.write('.', { state: 'x' })
      home.write('Papers', { a: 'x' })
      return [['sync', 'Papers']]
    },
    exit: 78,
    says: ['state', 'a file is in its place', '--state-dir'],
  },
]

function given(mistake: string, args: readonly string[], exit: number, says: Mistake['says']): Mistake {
  return { mistake, make: () => [args], exit, says }
}

function configured(mistake: string, yaml: string, says: Mistake['says']): Mistake {
  const make = (home: Home): CommandLine => {
    home.write('config/shelfd', { 'config.yaml': `${yaml}\n` })
    return [['sync']]
  }
  return { mistake, make, exit: 2, says: [...says, 'config path'] }
}

function addressed(mistake: string, url: string, exit: number, says: Mistake['says']): Mistake {
  return {
    mistake,
    make: () => [['whoami'], { SHELFD_SERVICE_URL: url, SHELFD_TOKEN: 'a-token-of-a-mistake' }],
    exit,
    says,
  }
}

function mirrored(mistake: string, to: readonly string[], says: Mistake['says']): Mistake {
  return {
    mistake,
    make: (home, service) => {
      home.write('Papers', { a: 'x' })
      return [['sync', 'Papers', ...to], variablesOf(service)]
    },
    exit: 2,
    says,
  }
}

interface Answer {
  readonly exitCode: number | null
  /** The message of the error, without what the command printed before. */
  readonly message: string
}

const answers = new Map<Mistake, Promise<Answer>>()

/** Makes the mistake once, however many tests look at the answer. */
function answerTo(mistake: Mistake): Promise<Answer> {
  const answer = answers.get(mistake) ?? makeMistake(mistake)
  answers.set(mistake, answer)
  return answer
}

async function makeMistake({ make }: Mistake): Promise<Answer> {
  await using service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome()
  const [args, env] = await make(home, service)
  const { exitCode, stderr } = await home.shelfd(args, env)
  return { exitCode, message: stderr.slice(stderr.indexOf('shelfd: ')).replaceAll(home.path, '~') }
}

test.each(MISTAKES)('$mistake is answered with what, why and what next', async (mistake) => {
  const { exitCode, message } = await answerTo(mistake)
  expect({ exitCode, message }).toEqual({ exitCode: mistake.exit, message: expect.stringMatching(/^shelfd: /) })
  expectParts(message, mistake.says)
  // What to do next may have a line of its own.
  expect(message.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
})

test('no two mistakes have the same message', async () => {
  const messages = await Promise.all(MISTAKES.map(answerTo))
  expect(new Set(messages.map(({ message }) => message)).size).toBe(MISTAKES.length)
})

test('a file in place of a directory is said to be one, and no mirror is to be forgotten for it', async () => {
  const home = homeWithPapers({ 'a.md': 'one' })
  await home.shelfd(['sync', 'Papers'])
  const { stderr } = expectExit(await home.shelfd(['sync', 'Papers/a.md']), 3, /not a directory; name the directory/)
  expect(stderr).not.toContain('forget')
})
