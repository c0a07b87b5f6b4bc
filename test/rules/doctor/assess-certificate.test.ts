import { describe, expect, test } from 'vitest'
import { assessCertificate, assessClientCertificate } from '../../../src/rules/doctor/assess-certificate.ts'

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
      remedy: expect.stringContaining('who runs the service'),
    })
    expect(assessClientCertificate(NOW_MS, NOW_MS)).toMatchObject({
      message: expect.stringContaining('client certificate'),
      remedy: expect.stringContaining('service.clientCertificate'),
    })
  })
})
