import { expect, test } from 'vitest'
import { tickLabels } from '../../src/web/dashboard/timeline/tick-labels.ts'

const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime() / 1_000

test('ticks are labelled as dates elsewhere', () => {
  const time = (hour: number) =>
    new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(new Date(2026, 0, 1, hour))
  const day = (number: number) =>
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(new Date(2026, 10, number))
  expect(tickLabels([at(25, 20), at(25, 22), at(26, 0)], 7_200)).toEqual([
    `${time(20)}\n${day(25)}`,
    time(22),
    `${time(0)}\n${day(26)}`,
  ])
})

test('days are labelled without a time', () => {
  expect(tickLabels([at(25, 0), at(26, 0)], 86_400).every((label) => /^\D*2[56]\D*$/.test(label))).toBe(true)
})
