import { describe, expect, test } from 'vitest'
import {
  embeddedOrigin,
  freeName,
  isEmbeddedOrigin,
  isNameReleased,
  type MirrorActivity,
  mirrorActivity,
} from '../../src/rules/mirror-activity.ts'

const HERE = 'https://a.example'
const ELSEWHERE = 'https://b.example'
const EMBEDDED = 'embedded:1'

describe('the activity of a mirror', () => {
  const cases: readonly (readonly [string, Partial<Parameters<typeof mirrorActivity>[0]>, MirrorActivity])[] = [
    ['configured, never synced', { isConfigured: true, origin: undefined }, 'active'],
    ['configured, of this service', { isConfigured: true, origin: HERE }, 'active'],
    ['configured, once ad hoc', { isConfigured: true, isAdHoc: true, origin: HERE }, 'active'],
    ['configured, of another service', { isConfigured: true, origin: ELSEWHERE }, 'other-service'],
    [
      'configured, of a library that is gone',
      { isConfigured: true, origin: EMBEDDED, currentOrigin: undefined },
      'other-service',
    ],
    ['no longer configured', { origin: HERE }, 'not-configured'],
    ['no longer configured, with no other', { origin: HERE, hasConfigured: false }, 'not-configured'],
    ['no longer configured, of another service', { origin: ELSEWHERE }, 'not-configured'],
    ['ad hoc beside configured ones', { isAdHoc: true, origin: HERE }, 'named-only'],
    ['ad hoc with none configured', { isAdHoc: true, origin: HERE, hasConfigured: false }, 'active'],
    ['ad hoc, of another service', { isAdHoc: true, origin: EMBEDDED, hasConfigured: false }, 'other-service'],
  ]
  test.each(cases)('a mirror is synced unnamed or not: %s', (_, facts, activity) => {
    const base = { isConfigured: false, hasConfigured: true, isAdHoc: false, origin: HERE, currentOrigin: HERE }
    expect(mirrorActivity({ ...base, ...facts })).toBe(activity)
  })
})

describe('the name of a mirror', () => {
  test('only an ad hoc embedded mirror gives its name away', () => {
    const service = { isEmbedded: false }
    expect(isNameReleased({ isAdHoc: true, origin: EMBEDDED }, service)).toBe(true)
    expect(isNameReleased({ isAdHoc: false, origin: EMBEDDED }, service)).toBe(false)
    expect(isNameReleased({ isAdHoc: true, origin: ELSEWHERE }, service)).toBe(false)
    expect(isNameReleased({ isAdHoc: true, origin: EMBEDDED }, { isEmbedded: true })).toBe(false)
  })

  test('a name that is taken gets the first free number', () => {
    const taken = new Set(['papers', 'papers-2'])
    expect(freeName('papers', (name) => taken.has(name))).toBe('papers-3')
    expect(freeName('mail', (name) => taken.has(name))).toBe('mail')
  })
})

test('the origin of an embedded library names its instance', () => {
  expect(embeddedOrigin('1')).toBe(EMBEDDED)
  expect([EMBEDDED, HERE, `${HERE}/embedded:1`].map(isEmbeddedOrigin)).toEqual([true, false, false])
})
