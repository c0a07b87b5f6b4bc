import { describe, expect, test } from 'vitest'
import type { AccessContext } from '../../src/contract/records.ts'
import {
  assessCertificate,
  assessClientCertificate,
  assessClock,
  assessCredential,
  assessDisk,
  assessMissingDaemon,
  assessRights,
  assessServiceManager,
  assessWatches,
  listCredentialWarnings,
  proposedWatches,
} from '../../src/rules/doctor-findings.ts'
import { RESERVE_BYTES } from '../../src/rules/limits.ts'

const DAY_MS = 24 * 3_600_000
const NOW_MS = Date.UTC(2026, 10, 22, 12)

describe('the end of a certificate', () => {
  test.each([
    ['more than two weeks are left', 14 * DAY_MS + 1, 'ok', 'valid until 2026-12-06'],
    ['two weeks are left', 14 * DAY_MS, 'warning', 'until 2026-12-06: 14 days left'],
    ['less than two days are left', 2 * DAY_MS - 1, 'warning', 'until 2026-11-24: 1 day left'],
    ['some hours are left', DAY_MS - 1, 'warning', 'until 2026-11-23: 0 days left'],
    ['it has ended', -3 * DAY_MS, 'warning', 'until 2026-11-19: 0 days left'],
  ])('a certificate is a warning in its last two weeks: %s', (_, leftMs, level, words) => {
    const findings = [assessCertificate, assessClientCertificate].map((assess) => assess(NOW_MS + leftMs, NOW_MS))
    const expected = { level, message: expect.stringMatching(new RegExp(`${words}$`)) }
    expect(findings).toMatchObject([expected, expected])
  })

  test('the warning names whose certificate ends, and who can renew it', () => {
    expect(assessCertificate(NOW_MS, NOW_MS)).toMatchObject({
      message: expect.stringContaining('trusted, valid'),
      remedy: expect.stringContaining('whoever runs the service'),
    })
    expect(assessClientCertificate(NOW_MS, NOW_MS)).toMatchObject({
      message: expect.stringContaining('client certificate'),
      remedy: expect.stringContaining('service.clientCertificate'),
    })
  })
})

const ALL = ['read', 'resource.create', 'update']
const ABILITIES = ['library.all.read', 'library.all.resource.create', 'library.all.update']

function library(access: string[]): AccessContext['libraries'][number] {
  return { id: '1', name: 'Papers', access }
}

/** Returns what a token says of itself; by default all that mirroring needs, and no more. */
function access(more: Partial<AccessContext> = {}): AccessContext {
  const tenant = { id: 1, name: 'Acme', slug: 'acme' }
  const user = { id: 2, name: 'Ada', email: 'ada@example.com' }
  const base = { tenant, user, grant_type: 'token', interfaces: ['api'], abilities: [], libraries: [library(ALL)] }
  return { ...base, ...more }
}

test.each([
  ['all rights on the library', ALL, [], undefined],
  ['all abilities', [], ABILITIES, undefined],
  ['some of both', ['update'], ABILITIES.slice(0, 2), undefined],
  ['reading alone', ['read'], [], 'lacks resource.create, update'],
  ['rights of another kind', ['resource.delete'], ['library.create'], 'lacks read, resource.create, update'],
])('a mirror needs to list, add to and update its library: %s', (_, rights, abilities, lack) => {
  const finding = assessRights(library(rights), abilities)
  expect([finding.level, finding.code]).toEqual(lack ? ['failed', 'right-missing'] : ['ok', undefined])
  expect(finding.message).toContain(`Papers: ${lack ? `the credential ${lack}` : 'may be'}`)
  expect(finding.remedy).toEqual(lack && expect.stringContaining('create a token'))
})

test.each<[string, Partial<AccessContext>, RegExp[]]>([
  ['what mirroring needs, for one library', {}, []],
  ['what mirroring needs, for libraries to come', { libraries: [], abilities: ABILITIES }, []],
  ['deletion', { abilities: ['library.create', 'library.delete'] }, [/may delete \(library\.delete\)/]],
  [
    'deletion in one library',
    { libraries: [library([...ALL, 'resource.delete'])] },
    [/may delete \(resource\.delete\)/],
  ],
  ['another interface', { interfaces: ['mcp'] }, [/not enabled for the API/]],
  ['reading alone', { libraries: [library(['read'])] }, [/may not create resources in any library/]],
  ['nothing', { interfaces: [], libraries: [] }, [/not enabled for the API/, /nothing can be sent/]],
])('a credential for too much or too little is a warning: one for %s', (_, more, expected) => {
  const matching = expected.map((words) => expect.stringMatching(words))
  expect(listCredentialWarnings(access(more))).toEqual(matching)
  const [first, ...others] = assessCredential(access(more), 'the environment')
  expect(first).toMatchObject({ level: 'ok', message: 'Ada, tenant Acme, token from the environment' })
  expect(others).toMatchObject(matching.map((message) => ({ level: 'warning', message })))
})

test('a credential of no user is named by its tenant', () => {
  const [first] = assessCredential(access({ user: null }), 'a file')
  expect(first).toMatchObject({ level: 'ok', message: 'no user, tenant Acme, token from a file' })
})

describe('the clock beside that of the service', () => {
  test.each([
    [0, 'ok', '+0.0 s'],
    [4_999, 'ok', '+5.0 s'],
    [-4_900, 'ok', '-4.9 s'],
    [5_000, 'warning', 'times in reports and logs are wrong'],
    [-299_000, 'warning', '-299.0 s'],
    [300_000, 'failed', '+300.0 s'],
    [-600_000, 'failed', 'certificates and waiting times are misread'],
  ])('a clock may differ by seconds, and not by minutes: %d ms ahead is %s', (aheadMs, level, words) => {
    expect(assessClock(aheadMs)).toMatchObject({ level, message: expect.stringContaining(words) })
  })

  test('only a clock that is wrong is to be set', () => {
    const remedies = [0, 60_000, -3_600_000].map((aheadMs) => assessClock(aheadMs).remedy)
    expect(remedies).toEqual([undefined, ...Array(2).fill(expect.stringContaining('timedatectl'))])
  })

  test('a service that states no time leaves the clock unjudged with a warning', () => {
    const { level, message, remedy } = assessClock(undefined)
    expect([level, remedy]).toEqual(['warning', undefined])
    expect(message).toContain('no time to compare with')
  })
})

const GIB = 2 ** 30

describe('the room on a disk', () => {
  test.each([
    ['a whole GiB is enough', GIB, 'ok', undefined],
    ['less than a GiB is a warning', GIB - 1, 'warning', undefined],
    ['a warning lasts as long as uploads go on', RESERVE_BYTES, 'warning', undefined],
    ['less than the reserve fails', RESERVE_BYTES - 1, 'failed', 'disk-full'],
  ])('the free space of a disk is judged: %s', (_, freeBytes, level, code) => {
    const finding = assessDisk('/var/state', freeBytes)
    expect([finding.level, finding.code]).toEqual([level, code])
    expect(finding.message).toContain('free at /var/state')
  })

  test('a disk that is nearly full comes with advice, and a full one says that nothing is sent', () => {
    expect(assessDisk('/', GIB).remedy).toBeUndefined()
    expect(assessDisk('/', RESERVE_BYTES).remedy).toContain('stateDir')
    expect(assessDisk('/', 0)).toMatchObject({
      message: expect.stringContaining('nothing is sent'),
      remedy: expect.stringContaining('free space'),
    })
  })
})

const LIMIT = 10_000

describe('the watches of the system', () => {
  test.each([
    ['few directories', 1_000, { directories: 8_000, isWatching: false }, 'ok'],
    ['more directories than are left', 1_000, { directories: 8_001, isWatching: false }, 'warning'],
    ['a daemon whose watches are counted already', 9_000, { directories: 8_001, isWatching: true }, 'ok'],
    ['a daemon that has nearly all', 9_001, { directories: 8_001, isWatching: true }, 'warning'],
  ])('watches for nine tenths of the limit are enough: %s', (_, used, need, level) => {
    expect(assessWatches({ used, limit: LIMIT }, need).level).toBe(level)
  })

  test('a warning of few watches says what is used, what mirrors need, and how to get more', () => {
    const use = { used: 9_500, limit: LIMIT }
    const { message, remedy } = assessWatches(use, { directories: 400_000, isWatching: false })
    expect(message).toContain('9,500 of 10,000 used, and the mirrors need 400,000')
    expect(remedy).toContain('max_user_watches=800000')
    // A running daemon has its watches: what it needs is in what is used.
    expect(assessWatches(use, { directories: 400_000, isWatching: true }).message).not.toContain('need')
  })

  test('the proposed limit of watches is twice what is there or needed, and never a small one', () => {
    expect(proposedWatches(8_192)).toBe(524_288)
    expect(proposedWatches(1_000_000)).toBe(2_000_000)
    expect(proposedWatches(1_000_000, 3_000_000)).toBe(6_000_000)
  })
})

test.each([
  ['running', 'ok', '/etc/unit', undefined],
  ['stopped', 'failed', '/etc/unit', 'shelfd service start'],
  ['not-installed', 'ok', '"shelfd service install"', undefined],
] as const)('an installed service has to run, and none is needed: %s is %s', (state, level, words, remedy) => {
  const finding = assessServiceManager(state, '/etc/unit')
  expect(finding).toMatchObject({ level, message: expect.stringContaining(words) })
  expect(finding.remedy).toBe(remedy)
})

test('a stopped service of the whole machine is started as such', () => {
  const { remedy } = assessServiceManager('stopped', '/etc/unit', true)
  expect(remedy).toBe('sudo shelfd service start --system')
})

describe('a daemon that does not run', () => {
  test('without mirrors no daemon has to run', () => {
    expect(assessMissingDaemon({ mirrors: 0, scheduled: [] })).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('no mirror'),
    })
  })

  test('without a schedule a missing daemon is a warning, since a person can sync', () => {
    expect(assessMissingDaemon({ mirrors: 2, scheduled: [] })).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('only by "shelfd sync"'),
      remedy: 'shelfd service install',
    })
  })

  test('a missing daemon fails when schedules need it, and they are named', () => {
    expect(assessMissingDaemon({ mirrors: 3, scheduled: ['Mail', 'Papers'] })).toMatchObject({
      level: 'failed',
      message: expect.stringContaining('"Mail", "Papers"'),
      remedy: 'shelfd service install',
    })
  })
})
