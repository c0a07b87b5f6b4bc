import { describe, expect, test } from 'vitest'
import { assessMissingDaemon, assessServiceState } from '../../../src/rules/doctor/assess-daemon.ts'

describe('the service manager', () => {
  test.each([
    ['running', 'ok', '/etc/unit', undefined],
    ['stopped', 'failed', '/etc/unit', 'shelfd service start'],
    ['not-installed', 'ok', '"shelfd service install"', undefined],
  ] as const)('an installed service has to run, and none is needed: %s is %s', (state, level, words, remedy) => {
    const finding = assessServiceState(state, '/etc/unit')
    expect(finding).toMatchObject({ level, message: expect.stringContaining(words) })
    expect(finding.remedy).toBe(remedy)
  })
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
