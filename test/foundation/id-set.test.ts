import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IdSet } from '../../src/foundation/id-set.ts'

test('a set of ids holds what was added', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000)), fc.array(fc.nat(100_000)), (added, others) => {
      const [ids, expected] = [new IdSet(), new Set(added)]
      for (const id of added) ids.add(id)
      const asked = [...added, ...added.map((id) => id + 1), ...others]
      expect(asked.map((id) => ids.has(id))).toEqual(asked.map((id) => expected.has(id)))
      expect([...ids]).toEqual([...expected].sort((a, b) => a - b))
    }),
  )
})
