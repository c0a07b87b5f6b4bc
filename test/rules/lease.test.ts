import { describe, expect, test } from 'vitest'
import { leaseLeftMs, SilentSessions } from '../../src/rules/lease.ts'

const LEASE_MS = 60_000

describe('a lease', () => {
  test('is counted by the clock that passed more time: one may stand still while the machine sleeps [P3]', () => {
    const since = { monotonicMs: 1_000, bootMs: 5_000 }
    expect(leaseLeftMs(since, LEASE_MS, { monotonicMs: 1_000, bootMs: 5_000 })).toBe(LEASE_MS)
    expect(leaseLeftMs(since, LEASE_MS, { monotonicMs: 2_000, bootMs: 95_000 })).toBe(-30_000)
    expect(leaseLeftMs(since, LEASE_MS, { monotonicMs: 31_000, bootMs: 5_000 })).toBe(30_000)
  })
})

describe('a session of another host', () => {
  test('is silent once its beat was seen unchanged for more than lease and grace [P3]', () => {
    const sessions = new SilentSessions()
    expect(sessions.note(1n, 7n, 0, LEASE_MS)).toBe(false)
    expect(sessions.note(1n, 7n, 120_000, LEASE_MS)).toBe(false)
    expect(sessions.note(1n, 7n, 120_001, LEASE_MS)).toBe(true)
    expect(sessions.note(1n, 8n, 120_002, LEASE_MS)).toBe(false)
  })

  test('is watched no longer once nothing of it was seen for long, so that those that ended take no memory', () => {
    const sessions = new SilentSessions()
    sessions.note(1n, 7n, 0, LEASE_MS)
    sessions.note(2n, 1n, 600_001, LEASE_MS)
    expect(sessions.note(1n, 7n, 600_002, LEASE_MS)).toBe(false)
    expect(sessions.note(1n, 7n, 720_003, LEASE_MS)).toBe(true)
  })
})
