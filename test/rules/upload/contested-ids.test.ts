import { expect, test } from 'vitest'
import { contestedIds } from '../../../src/rules/upload/contested-ids.ts'

const named = (resourceId: string, bytes: string) => ({ resourceId, sha256: Buffer.from(bytes) })

test('an id is contested when different bytes were answered with it', () => {
  const answers = [named('a', 'one'), named('b', 'two'), named('b', 'two'), named('c', 'three'), named('c', 'four')]
  expect([...contestedIds([...answers, named('c', 'three')])]).toEqual(['c'])
  expect([...contestedIds([])]).toEqual([])
})
