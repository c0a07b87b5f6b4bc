import { describe, expect, test } from 'vitest'
import { concernsOneMirror, failureScope } from '../../../src/rules/failure/failure-scope.ts'

describe('an error that ends a mirror', () => {
  test.each([
    ['root', 'root-missing'],
    ['usage', 'unknown-library'],
    ['rejected', 'not-found'],
    ['heldBack', 'root-emptied'],
    ['heldBack', 'confirmation-needed'],
    ['refused', 'right-missing'],
    ['refused', 'origin-mismatch'],
    ['refused', 'root-mismatch'],
  ] as const)('leaves the others alone: %s, %s', (reaction, code) => {
    expect(concernsOneMirror({ reaction, code })).toBe(true)
  })

  test.each([
    ['refused', 'credential-missing'],
    ['refused', 'credential-refused'],
    ['refused', 'certificate-refused'],
    ['refused', 'redirect-refused'],
    ['refused', 'proxy-refused'],
    ['heldBack', 'limit-reached'],
    ['temporary', 'service-unreachable'],
    ['temporary', 'disk-full'],
    ['operator', 'store-damaged'],
    ['interrupted', 'interrupted'],
    ['internal', 'unexpected'],
  ] as const)('ends all when it holds for all: %s, %s', (reaction, code) => {
    expect(concernsOneMirror({ reaction, code })).toBe(false)
  })
})

describe('a failed request', () => {
  test.each([
    ['rejected', 'not-found', 'item'],
    ['rejected', 'conflict', 'item'],
    ['temporary', 'service-error', 'unclear'],
    ['temporary', 'service-unavailable', 'unclear'],
    ['temporary', 'answer-malformed', 'unclear'],
    ['temporary', 'answer-late', 'unclear'],
    ['refused', 'right-missing', 'unclear'],
    ['refused', 'redirect-refused', 'unclear'],
    ['temporary', 'service-throttling', 'service'],
    ['temporary', 'service-unreachable', 'service'],
    ['refused', 'credential-refused', 'service'],
    ['interrupted', 'interrupted', 'service'],
  ] as const)('tells how far it reaches: %s, %s: %s', (reaction, code, scope) => {
    expect(failureScope({ reaction, code })).toBe(scope)
  })

  test('of a broken connection may be its own', () => {
    const reaction = 'temporary'
    expect(failureScope({ reaction, code: 'service-unreachable', wasReached: true })).toBe('unclear')
    expect(failureScope({ reaction, code: 'service-throttling', wasReached: true })).toBe('service')
  })
})
