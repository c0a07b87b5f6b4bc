import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/foundation/text/times.ts'
import { keepSearch, resourceOfHit, takeNotice } from '../../src/store/last-search.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const hitsOf = (...ids: readonly string[]) => ids.map((id) => ({ resource: { id } }))

test('the hits of the last page have numbers, and those of earlier pages none', () => {
  const state = temporaryDirectory()
  expect(resourceOfHit(state, 1)).toBeUndefined()
  keepSearch(state, 10, hitsOf('r11', 'r12'))
  expect([10, 11, 12, 13].map((number) => resourceOfHit(state, number))).toEqual([undefined, 'r11', 'r12', undefined])
  expect(statSync(join(state, 'last-search.json')).mode & 0o777).toBe(0o600)
})

test('each kind of notice is shown once a day, what is about words of the query first', () => {
  const state = temporaryDirectory()
  const notice = (left: number) => `Candidates. Meaning is missing for ${left}. The daemon embeds them. None has "x".`
  const take = (left: number, nowMs: number) => takeNotice(state, notice(left), nowMs)
  const later = 'Meaning is missing for 7. The daemon embeds them.'
  expect([take(9, 0), take(8, 1), take(7, 2), take(6, 3)]).toEqual(['None has "x".', 'Candidates.', later, ''])
  expect(take(5, DAY_MS)).toBe('None has "x".')
})

test('a damaged file of the last search counts as none, and where nothing was mirrored nothing is written', () => {
  const state = temporaryDirectory({ 'last-search.json': '{"first":' })
  expect(resourceOfHit(state, 1)).toBeUndefined()
  writeFileSync(join(state, 'last-search.json'), '[]')
  expect(resourceOfHit(state, 1)).toBeUndefined()
  const none = join(state, 'none')
  keepSearch(none, 0, hitsOf('r1'))
  expect(readdirSync(state)).toEqual(['last-search.json'])
})
