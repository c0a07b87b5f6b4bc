// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like that
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../src/app/settings/read-settings.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { settingsProblem } from './read-settings-with.ts'

const CONFIGURED = 'service: { url: "https://library.example.com" }\n'

describe('problems of the configuration', () => {
  test('unknown keys and wrong types are reported together with their lines', () => {
    const yaml = [
      'limit: {}',
      'limits:',
      '  transfer: 3',
      '  checkers: lots',
      'mirrors:',
      '  - name: a/b',
      '    watch: maybe',
      'ingestion: soon',
    ].join('\n')
    expect(settingsProblem({ yaml })).toMatchInlineSnapshot(`
      "UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:1: unknown key "limit" (did you mean "limits"?)
      /home/ada/.config/shelfd/config.yaml:3: unknown key "transfer" in "limits" (did you mean "transfers"?)
      /home/ada/.config/shelfd/config.yaml:4: "limits.checkers" must be a whole number from 1 to 64, not "lots"
      /home/ada/.config/shelfd/config.yaml:6: "mirrors[0].name" must be a name of up to 100 characters, without "/", not "a/b"
      /home/ada/.config/shelfd/config.yaml:6: "mirrors[0].path" is missing: a path
      /home/ada/.config/shelfd/config.yaml:7: "mirrors[0].watch" must be true or false, not "maybe"
      /home/ada/.config/shelfd/config.yaml:8: "ingestion" must be keys and values, not "soon""
    `)
  })

  test('wrong values of flags and variables are reported under these', () => {
    const given = { flags: { transfers: 'many' }, env: { SHELFD_BWLIMIT: 'fast', SHELFD_MAX_NEW: '-1' } }
    expect(settingsProblem(given)).toMatchInlineSnapshot(`
      "UsageError: Cannot read the configuration: --transfers must be a whole number from 1 to 64, not "many"
      SHELFD_BWLIMIT must be a size such as 500K, 50MB or 2GB, up to 1024TB, or a timetable such as "08:00,512K 18:00,off", not "fast"
      SHELFD_MAX_NEW must be a whole number from 0 to 1000000000, or none, not "-1""
    `)
  })

  test('a number beyond its bounds is refused with its key and bounds [S-25]', () => {
    const yaml = [
      'limits:',
      '  transfers: 65',
      '  checkers: 1e9',
      '  requestsPerSecond: 1e-9',
      '  bandwidth: 1025TB',
      '  inIngestion: 1000001',
      '  newPerRun: 1000000001',
      '  retryFor: 3651d',
      'mirrors: [{ path: /a, maxSize: 99999999999999999 }]',
      'ingestion: { deadline: 999999999999999999999d }',
    ].join('\n')
    expect(settingsProblem({ yaml, env: { SHELFD_MAX_NEW_PER_DAY: '1e9' } })).toMatchInlineSnapshot(`
      "UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:2: "limits.transfers" must be a whole number from 1 to 64, not 65
      /home/ada/.config/shelfd/config.yaml:3: "limits.checkers" must be a whole number from 1 to 64, not 1000000000
      /home/ada/.config/shelfd/config.yaml:4: "limits.requestsPerSecond" must be a number from 0.001 to 1000000, or 0 for no fixed limit, not 1e-9
      /home/ada/.config/shelfd/config.yaml:5: "limits.bandwidth" must be a size such as 500K, 50MB or 2GB, up to 1024TB, or a timetable such as "08:00,512K 18:00,off", not "1025TB"
      /home/ada/.config/shelfd/config.yaml:6: "limits.inIngestion" must be a whole number from 1 to 1000000, not 1000001
      /home/ada/.config/shelfd/config.yaml:7: "limits.newPerRun" must be a whole number from 0 to 1000000000, or none, not 1000000001
      /home/ada/.config/shelfd/config.yaml:8: "limits.retryFor" must be a duration such as 500ms, 30s, 5m or 1h30m, up to 3650d, not "3651d"
      /home/ada/.config/shelfd/config.yaml:9: "mirrors[0].maxSize" must be a size such as 500K, 50MB or 2GB, up to 1024TB, or none, not 100000000000000000
      /home/ada/.config/shelfd/config.yaml:10: "ingestion.deadline" must be a duration above 0, such as 500ms, 30s, 5m or 1h30m, up to 3650d, not "999999999999999999999d"
      SHELFD_MAX_NEW_PER_DAY must be a whole number from 0 to 1000000000, or none, not "1e9""
    `)
  })

  test('an unknown key of a mirror lists what is near', () => {
    expect(
      settingsProblem({ yaml: 'mirrors:\n  - path: /a\n    remote_path: /b\n    colour: red' }),
    ).toMatchInlineSnapshot(`
      "UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:3: unknown key "remote_path" in "mirrors[0]" (did you mean "remotePath"?)
      /home/ada/.config/shelfd/config.yaml:4: unknown key "colour" in "mirrors[0]"; known keys: name, path, library, remotePath, include, ignore, gitignore, maxSize, symlinks, watch, watcher, pollInterval, settle, rescan, schedule, maxDuration, emptyFiles, oneFileSystem, hooks"
    `)
  })

  test('a key that is gone is refused with what holds instead', () => {
    expect(settingsProblem({ yaml: 'mirrors:\n  - path: /a\n    duplicates: skip' })).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:3: the key "duplicates" in "mirrors[0]" is gone, remove it: a content is sent once, however many files have it"`,
    )
  })

  test('a wrong schedule names the field that cannot be', () => {
    const yaml = [
      'mirrors:',
      '  - { path: /a, schedule: "0 25 * * *" }',
      '  - { path: /b, schedule: "@daily" }',
      '  - { path: /c, schedule: "0 0 30 2 *" }',
      '  - { path: /d, schedule: 2 }',
      'maintenance:',
      '  - { start: "0 0 * * mon-nodays", duration: 2h }',
      '  - { start: "0 0 * * 0; ls", duration: 0s }',
    ].join('\n')
    expect(settingsProblem({ yaml })).toMatchInlineSnapshot(`
      "UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:2: "mirrors[0].schedule" must be a cron expression of five fields, such as "0 2 * * *" (its hour cannot be "25"), not "0 25 * * *"
      /home/ada/.config/shelfd/config.yaml:3: "mirrors[1].schedule" must be a cron expression of five fields, such as "0 2 * * *", not "@daily"
      /home/ada/.config/shelfd/config.yaml:4: "mirrors[2].schedule" must be a cron expression of five fields, such as "0 2 * * *" (its day of the month cannot be "30"), not "0 0 30 2 *"
      /home/ada/.config/shelfd/config.yaml:5: "mirrors[3].schedule" must be a cron expression of five fields, such as "0 2 * * *", not 2
      /home/ada/.config/shelfd/config.yaml:7: "maintenance[0].start" must be a cron expression of five fields, such as "0 2 * * *" (its day of the week cannot be "mon-nodays"), not "0 0 * * mon-nodays"
      /home/ada/.config/shelfd/config.yaml:8: "maintenance[1].duration" must be a duration above 0, such as 500ms, 30s, 5m or 1h30m, up to 3650d, not "0s"
      /home/ada/.config/shelfd/config.yaml:8: "maintenance[1].start" must be a cron expression of five fields, such as "0 2 * * *", not "0 0 * * 0; ls""
    `)
  })

  test.each([
    ['service: {', 1, /"\{" or "\[" is not closed/],
    ['a: 1\nmirrors: [\n', 2, /"\{" or "\[" is not closed/],
    ['mirrors:\n  - name: a\n path: b\n', 3, /same column/],
    ['limits: {}\nlimits: {}', 2, /the same key appears here twice/],
    ['service:\n\turl: x\n', 2, /not with tabs/],
    ['service:\n  url: "x\n', 2, /quote/],
    ['stateDir: a: b\n', 1, /in quotes/],
    ['stateDir: @here\n', 1, /in quotes/],
    ['stateDir: "C:\\Users"\n', 1, /double quotes/],
    ['service\nstateDir: x\n', 1, /": "/],
    ['mirrors:\n  - { path: a name: b }\n', 2, /","/],
    ['stateDir: ]\n', 1, /does not belong/],
    ['mirrors: []\n---\nmirrors: []\n', 2, /---/],
    ['ignore:\n  - "*.log"\n  - *.tmp\n', 3, /begins with "\*" .*quotes/],
    ['stateDir: &x &y z\n', 1, /^near line 1$/],
    ['%YAML 9\n---\nlimits: {}\n', 1, /^near line 1$/],
    ['ignore: &a [*a]\n', 1, /^near line 1$/],
  ])('invalid YAML is reported in our own words: %j', (yaml, line, words) => {
    const [, place, reason] =
      /^UsageError: .*\.yaml:(\d+): not valid YAML:? (.*)$/.exec(settingsProblem({ yaml })) ?? []
    expect({ place, reason }).toEqual({ place: `${line}`, reason: expect.stringMatching(words) })
    expect(reason).not.toMatch(/flow|block|scalar|implicit|token|alias|collection|mapping/i)
  })

  test('a configuration in another encoding than UTF-8 is refused, not read in part [F-FS-30]', () => {
    const yaml = Buffer.from('mirrors:\n  - { path: ~/Papers, ignore: ["B\u00fcro/"] }\n', 'latin1')
    const file = join(temporaryDirectory({ 'config.yaml': yaml }), 'config.yaml')
    const read = () => readSettings({ flags: { config: file }, env: {}, cwd: '/', home: '/' })
    expect(read).toThrow(/config\.yaml".*save it as UTF-8/)
  })

  test('a list instead of keys is refused', () => {
    expect(settingsProblem({ yaml: '- a list' })).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:1: expected keys and values"`,
    )
  })

  test('a variable without value or default is refused', () => {
    expect(settingsProblem({ yaml: 'mirrors:\n  - path: "${NOWHERE}/x"' })).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:2: the variable NOWHERE is not set; set it, or write \${NOWHERE:-default}"`,
    )
  })

  test('mirrors that conflict or lack a library are refused', () => {
    const mirrors = (...lines: string[]) => settingsProblem({ yaml: `${CONFIGURED}mirrors:\n${lines.join('\n')}` })
    expect(
      mirrors('  - { path: /a, library: R, name: x }', '  - { path: /b, library: R, name: x }'),
    ).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:4: two mirrors are named "x""`,
    )
    expect(
      mirrors('  - { path: /a, library: R }', '  - { path: /b, library: R, remotePath: /a/deep }'),
    ).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:4: the mirrors "a" and "b" share "/a/deep" of the library "R""`,
    )
    expect(mirrors('  - { path: /b, library: R, remotePath: /a/deep }', '  - { path: /a, library: R }')).toContain(
      'share "/a/deep" of',
    )
    expect(mirrors('  - { path: /a }')).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:3: "mirrors[0].library" is missing: with a configured service, give the identifier or name of the library"`,
    )
  })

  test('two sources of the token are refused', () => {
    const yaml = 'service:\n  url: https://x.org\n  tokenFile: t\n  tokenCommand: [pass]'
    expect(settingsProblem({ yaml })).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: /home/ada/.config/shelfd/config.yaml:1: give only one of token, tokenFile and tokenCommand"`,
    )
  })

  test('a configuration file that was named but is missing is refused', () => {
    expect(settingsProblem({ flags: { config: 'mine.yaml' } })).toMatchInlineSnapshot(
      `"UsageError: Cannot read the configuration: there is no file "/home/ada/notes/mine.yaml""`,
    )
  })

  test.each([
    'http://library.example.com',
    'https://library.example.com/api',
    'https://ada:secret-value@library.example.com',
    'https://library.example.com?x=1',
    'ftp://library.example.com',
    'library.example.com',
  ])('the address %s is refused as an origin and not repeated [S-01]', (url) => {
    const problem = settingsProblem({ yaml: `service:\n  url: ${url}` })
    expect(problem).toContain('config.yaml:2: "service.url" must be an origin')
    expect(problem).not.toContain('secret-value')
  })
})

describe('insecure files', () => {
  test('a file with a token that others can read is refused [S-06]', () => {
    const yaml = 'service: { url: "https://x.org", token: secret-value }'
    expect(settingsProblem({ yaml, mode: 0o640 })).toMatchInlineSnapshot(
      `"UsageError: Cannot use "/home/ada/.config/shelfd/config.yaml": it holds a secret, and others can read it (mode 0640); run: chmod 600 "/home/ada/.config/shelfd/config.yaml""`,
    )
    expect(() => settingsProblem({ yaml, mode: 0o600 })).toThrow('accepted')
  })

  test('a file with a command that others can write is refused [S-06]', () => {
    const yaml = 'service: { url: "https://x.org", tokenCommand: [pass] }'
    expect(settingsProblem({ yaml, mode: 0o666 })).toMatchInlineSnapshot(
      `"UsageError: Cannot use "/home/ada/.config/shelfd/config.yaml": its settings decide what runs and what is sent, and others can write it (mode 0666); run: chmod go-w "/home/ada/.config/shelfd/config.yaml""`,
    )
    expect(() => settingsProblem({ yaml, mode: 0o644 })).toThrow('accepted')
  })
})
