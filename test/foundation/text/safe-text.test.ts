import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counted, groupDigits } from '../../../src/foundation/text/safe-text.ts'

test('numbers are grouped as people in English write them', () => {
  fc.assert(fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (count) => groupDigits(count) === count.toLocaleString('en')))
})

test('one thing is counted in the singular', () => {
  expect([0, 1, 1_234].map((count) => counted(count, 'file'))).toEqual(['0 files', '1 file', '1,234 files'])
})
