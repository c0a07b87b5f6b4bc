import { expect, test } from 'vitest'
import { listFailures } from '../run-seeds.ts'

test('no fleet of the first 10 breaks a promise [P1, P2, P3, P4, P17, P20, P21]', async () => {
  expect(await listFailures('fleet', 10, 1)).toEqual([])
})
