import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { flag, readOptions, wholeNumber } from './instrument.ts'

const OPTIONS = z.object({
  atOnce: wholeNumber(1, 64).default(2),
  only: z.array(z.enum(['start', 'memory'])).default([]),
  write: flag(),
})

describe('the options of an instrument', () => {
  test('options are read by the names and kinds of their fields', () => {
    expect(readOptions(OPTIONS, [])).toEqual({ atOnce: 2, only: [], write: false })
    const argv = ['--at-once', '3', '--only', 'start', '--only=memory', '--write']
    expect(readOptions(OPTIONS, argv)).toEqual({ atOnce: 3, only: ['start', 'memory'], write: true })
  })

  test.each([
    [['--at-once', '65'], '--at-once "65" must be a whole number from 1 to 64'],
    [['--at-once', 'two'], '--at-once "two" must be a whole number from 1 to 64'],
    [['--only', 'stop'], '--only "stop" must be one of start, memory'],
    [['--twice'], "Unknown option '--twice'"],
  ])('the wrong option of %j is named', (argv, message) => {
    expect(() => readOptions(OPTIONS, argv)).toThrow(message)
  })
})
