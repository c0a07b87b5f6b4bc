import { expect, test } from 'vitest'
import { namesEntityTag, readRange } from '../../../src/embedded/http/send-content.ts'

test.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-5', { start: 2, end: 5 }],
  ['bytes= 2 - 5 ', { start: 2, end: 5 }],
  ['Bytes=9-', { start: 9, end: 9 }],
  ['bytes=4-99', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=10-11', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', undefined],
  ['bytes=-', undefined],
  ['bytes=a-b', undefined],
  ['bytes=0-1,3-4', undefined],
  ['rows=0-1', undefined],
  ['', undefined],
  [undefined, undefined],
])('the range header %j is read as %j', (header, range) => {
  expect(readRange(header, 10)).toEqual(range)
})

test('no range of an empty content can be satisfied', () => {
  for (const header of ['bytes=0-', 'bytes=-1', 'bytes=0-0']) expect(readRange(header, 0)).toBe('unsatisfiable')
})

test('an entity tag is found in a list, weak or strong', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*'])
    expect([header, namesEntityTag(header, '"a"')]).toEqual([header, true])
  for (const header of ['"b"', 'a', '', undefined])
    expect([header, namesEntityTag(header, '"a"')]).toEqual([header, false])
})
