import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../../../src')

it.each(['embedded/database', 'store'])('each migration of %s has a number of its own', (folder) => {
  const numbers = readdirSync(join(SRC, folder, 'migrations'), 'utf8')
    .map((name) => name.slice(0, 3))
    .sort()
  expect(numbers[0]).toBe('001')
  expect(new Set(numbers).size).toBe(numbers.length)
})
