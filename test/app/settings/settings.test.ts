// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OVERRIDES, type SettingFlag, settingFlags, variableOf } from '../../../src/app/settings/overrides.ts'
import { nest, valueAt } from '../../../src/app/settings/raw-settings.ts'
import { adHocMirror } from '../../../src/app/settings/schema.ts'
import { CONFIG, readSettingsWith } from './read-settings-with.ts'

const CONFIGURED = 'service: { url: "https://library.example.com" }\n'

describe('precedence', () => {
  const whole = fc.integer({ min: 1, max: 64 }).map((value) => ({ written: String(value), read: value }))
  const seconds = fc.integer({ min: 1, max: 900 }).map((value) => ({ written: `${value}s`, read: value * 1_000 }))
  const sizes = fc.integer({ min: 1, max: 900 }).map((value) => ({ written: `${value}K`, read: value * 1_024 }))
  const paths = fc.stringMatching(/^[a-z]{1,8}$/).map((name) => ({ written: `/data/${name}`, read: `/data/${name}` }))
  interface Leaf {
    readonly values: fc.Arbitrary<{ written: string; read: unknown }>
    readonly at: string[]
    /** Further variables that the setting needs. */
    readonly env?: Readonly<Record<string, string>>
    /** There is no configuration without it. */
    readonly isNeeded?: true
  }
  const leaves: Record<SettingFlag, Leaf> = {
    'state-dir': { values: paths, at: ['stateDir'] },
    'data-dir': { values: paths, at: ['service', 'dataDir'] },
    'log-format': {
      values: fc.constantFrom('text', 'json').map((format) => ({ written: format, read: format })),
      at: ['logFormat'],
    },
    embedder: {
      values: fc.constantFrom('offline', 'none').map((kind) => ({ written: kind, read: { kind } })),
      at: ['embedder'],
    },
    'health-listen': {
      values: fc
        .oneof(fc.constant(80), fc.integer({ min: 0, max: 65_535 }))
        .map((port) => ({ written: `[::1]:${port}`, read: { host: '::1', port } })),
      at: ['healthListen'],
    },
    'library-listen': {
      values: fc
        .integer({ min: 0, max: 65_535 })
        .map((port) => ({ written: `127.0.0.1:${port}`, read: { host: '127.0.0.1', port } })),
      at: ['libraryListen'],
    },
    'service-url': {
      values: fc
        .stringMatching(/^[a-z]{1,8}$/)
        .map((name) => ({ written: `https://${name}.org`, read: `https://${name}.org` })),
      at: ['service', 'origin'],
    },
    'ca-file': { values: paths, at: ['service', 'caFile'], env: { SHELFD_SERVICE_URL: 'https://library.example.com' } },
    'client-cert-file': {
      values: paths,
      at: ['service', 'clientCertificate', 'certFile'],
      env: { SHELFD_SERVICE_URL: 'https://library.example.com', SHELFD_CLIENT_KEY_FILE: '/key.pem' },
      isNeeded: true,
    },
    'client-key-file': {
      values: paths,
      at: ['service', 'clientCertificate', 'keyFile'],
      env: { SHELFD_SERVICE_URL: 'https://library.example.com', SHELFD_CLIENT_CERT_FILE: '/cert.pem' },
      isNeeded: true,
    },
    'client-passphrase-file': {
      values: paths,
      at: ['service', 'clientCertificate', 'passphraseFile'],
      env: {
        SHELFD_SERVICE_URL: 'https://library.example.com',
        SHELFD_CLIENT_CERT_FILE: '/cert.pem',
        SHELFD_CLIENT_KEY_FILE: '/key.pem',
      },
    },
    transfers: { values: whole, at: ['limits', 'transfers'] },
    checkers: { values: whole, at: ['limits', 'checkers'] },
    'requests-per-second': { values: whole, at: ['limits', 'requestsPerSecond'] },
    bwlimit: { values: sizes, at: ['limits', 'bandwidth', '0', 'bytesPerSecond'] },
    'in-ingestion': { values: whole, at: ['limits', 'inIngestion'] },
    'max-new': { values: whole, at: ['limits', 'newPerRun'] },
    'max-new-per-day': { values: whole, at: ['limits', 'newPerDay'] },
    'max-new-bytes': { values: sizes, at: ['limits', 'newBytesPerRun'] },
    'retry-for': { values: seconds, at: ['limits', 'retryForMs'] },
    'first-poll': { values: seconds, at: ['ingestion', 'firstPollMs'] },
    'ingestion-deadline': { values: seconds, at: ['ingestion', 'deadlineMs'] },
  }

  test.each(settingFlags)('%s takes flag over variable over file over default', (flag) => {
    const { values, at, env = {}, isNeeded = false } = leaves[flag]
    const maybe = fc.option(values, { nil: undefined })
    const byDefault = isNeeded ? undefined : valueAt(readSettingsWith({ env }), at)
    fc.assert(
      fc.property(maybe, maybe, isNeeded ? values : maybe, (byFlag, byVariable, byFile) => {
        const settings = readSettingsWith({
          ...(byFile && { yaml: JSON.stringify(nest(OVERRIDES[flag].path, byFile.written)) }),
          env: byVariable ? { ...env, [variableOf(flag)]: byVariable.written } : env,
          flags: byFlag ? { [flag]: byFlag.written } : {},
        })
        const wins = byFlag ?? byVariable ?? byFile
        expect(valueAt(settings, at)).toEqual(wins ? wins.read : byDefault)
      }),
      { numRuns: 40 },
    )
  })

  test('an empty variable leaves the default', () => {
    expect(readSettingsWith({ env: { SHELFD_TRANSFERS: '' } }).limits.transfers).toBe(32)
  })
})

describe('defaults', () => {
  test('the embedded library has no limits by default', () => {
    const settings = readSettingsWith()
    expect(settings.service).toEqual({ kind: 'embedded', dataDir: '/home/ada/.local/share/shelfd/library' })
    expect(settings.limits).toMatchObject({ transfers: 32, inIngestion: 5000, newPerRun: null, newPerDay: null })
    expect(settings.ingestion.firstPollMs).toBe(100)
  })

  test('a configured service is guarded against spending', () => {
    const settings = readSettingsWith({ yaml: CONFIGURED })
    expect(settings.limits).toMatchObject({ transfers: 4, inIngestion: 200, newPerRun: 5000, newPerDay: 20_000 })
    expect(settings.ingestion).toEqual({ firstPollMs: 2_000, maxPollMs: 60_000, deadlineMs: 21_600_000 })
  })

  test('the URL in the environment alone configures a service', () => {
    const { service } = readSettingsWith({ env: { SHELFD_SERVICE_URL: 'http://127.0.0.1:8800/' } })
    expect(service).toMatchObject({ kind: 'configured', origin: 'http://127.0.0.1:8800' })
  })

  test('limits can be lifted, and set for the embedded library', () => {
    const lifted = readSettingsWith({ yaml: `${CONFIGURED}limits: { newPerRun: none, newPerDay: 7 }` })
    expect(lifted.limits).toMatchObject({ newPerRun: null, newPerDay: 7 })
    expect(readSettingsWith({ yaml: 'limits: { newPerRun: 3 }' }).limits).toMatchObject({
      newPerRun: 3,
      newPerDay: null,
    })
  })

  test('a mirror needs only a path', () => {
    const [mirror] = readSettingsWith({ yaml: 'mirrors: [{ path: ~/Papers }]' }).mirrors
    expect(mirror).toEqual(adHocMirror({ kind: 'embedded' }, '/home/ada/Papers'))
    expect(mirror).toMatchObject({
      name: 'Papers',
      library: 'Papers',
      remotePath: '/Papers',
      settleMs: 5_000,
      watch: true,
    })
  })

  test('schedules and windows are kept in one form', () => {
    const yaml = [
      'mirrors: [{ path: /a, schedule: " 30  2 * * mon-fri ", maxDuration: 4h }]',
      'timeZone: Europe/Berlin',
      'maintenance: [{ start: "0 12 L * 5#1", duration: 1h30m }]',
    ].join('\n')
    const { mirrors, timeZone, maintenance } = readSettingsWith({ yaml })
    expect(mirrors[0]).toMatchObject({ schedule: '30 2 * * mon-fri', maxDurationMs: 4 * 3_600_000 })
    expect({ timeZone, maintenance }).toEqual({
      timeZone: 'Europe/Berlin',
      maintenance: [{ start: '0 12 L * 5#1', durationMs: 5_400_000 }],
    })
  })

  test('a mirror of the root directory has a name', () => {
    expect(adHocMirror({ kind: 'embedded' }, '/')).toMatchObject({ name: 'root', library: 'root', remotePath: '/root' })
  })
})

describe('places', () => {
  test('paths of the file start at the file, those of flags at the working directory', () => {
    const settings = readSettingsWith({
      yaml: `${CONFIGURED}  \nstateDir: state\nmirrors: [{ path: ../papers, library: R }]`,
      flags: { 'data-dir': 'library' },
    })
    expect(settings.stateDir).toBe('/home/ada/.config/shelfd/state')
    expect(settings.mirrors[0]?.path).toBe('/home/ada/.config/papers')
    expect(settings.service.dataDir).toBe('/home/ada/notes/library')
    expect(settings.configFile).toBe(CONFIG)
  })

  test('every path and every program of the file is absolute, and no other text', () => {
    const certificate = 'clientCertificate: { certFile: ~/p, keyFile: ./p, passphraseFile: p }'
    const yaml = [
      `service: { url: "https://a.org", tokenCommand: [bin/p, bin/p], caFile: p, ${certificate} }`,
      `fleet: { database: "postgres://u@127.0.0.1/d", passwordFile: p, caFile: p, ${certificate} }`,
      'mirrors: [{ path: p, library: p, ignore: [bin/p], hooks: { before: [~/bin/p], after: [p, bin/p] } }]',
      'hooks: { after: [./p, bin/p] }',
      'notify: { command: [bin/p] }',
      'embedder: { url: "https://a.org", model: p, keyFile: p }',
      'contract: { createDirectory: { path: p } }',
      'stateDir: p\ndataDir: p',
    ].join('\n')
    const { service, fleet, mirrors, hooks, notify, embedder, contract, stateDir } = readSettingsWith({ yaml })
    const own = '/home/ada/.config/shelfd'
    const files = { certFile: '/home/ada/p', keyFile: `${own}/p`, passphraseFile: `${own}/p` }
    const common = { caFile: `${own}/p`, clientCertificate: files }
    expect(service).toMatchObject({ ...common, tokenCommand: [`${own}/bin/p`, 'bin/p'], dataDir: `${own}/p` })
    expect(fleet).toMatchObject({ ...common, passwordFile: `${own}/p` })
    expect(mirrors[0]).toMatchObject({ path: `${own}/p`, library: 'p', ignore: ['bin/p'] })
    expect(mirrors[0]?.hooks).toMatchObject({ before: ['/home/ada/bin/p'], after: ['p', 'bin/p'] })
    expect({ hooks, notify, embedder, contract, stateDir }).toMatchObject({
      hooks: { after: [`${own}/p`, 'bin/p'] },
      notify: { command: [`${own}/bin/p`] },
      embedder: { model: 'p', keyFile: `${own}/p` },
      contract: { createDirectory: { path: 'p' } },
      stateDir: `${own}/p`,
    })
  })

  test('the state lies where XDG or systemd place it', () => {
    expect(readSettingsWith().stateDir).toBe('/home/ada/.local/state/shelfd')
    expect(readSettingsWith({ env: { XDG_STATE_HOME: '/var/x' } }).stateDir).toBe('/var/x/shelfd')
    expect(readSettingsWith({ env: { XDG_STATE_HOME: 'relative' } }).stateDir).toBe('/home/ada/.local/state/shelfd')
    const systemd = { STATE_DIRECTORY: '/var/lib/shelfd:/var/lib/other', XDG_STATE_HOME: '/var/x' }
    expect(readSettingsWith({ env: systemd }).stateDir).toBe('/var/lib/shelfd')
    expect(readSettingsWith({ env: systemd, flags: { 'state-dir': '/s' } }).stateDir).toBe('/s')
  })

  test('variables expand in strings', () => {
    const yaml =
      'mirrors: [{ path: "/data/${WHO}", library: "${LIB:-Notes}", ignore: ["$${WHO}", "${EMPTY:-x}"] }]\nlimits: { transfers: "${N}" }'
    const settings = readSettingsWith({ yaml, env: { WHO: 'ada', N: '9', EMPTY: '' } })
    expect(settings.mirrors[0]).toMatchObject({ path: '/data/ada', library: 'Notes', ignore: ['${WHO}', 'x'] })
    expect(settings.limits.transfers).toBe(9)
  })
})
