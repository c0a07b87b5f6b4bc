import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BUGS } from './planted/bugs.ts'
import { listFailures } from './run-seeds.ts'

test('no world of the first 300 breaks a promise [P1, P2, P3, P4, P6, P7, P9, P10, P11, P12, P13, P17, P18, P19, P20, P21, P22]', async () => {
  expect(await listFailures('single', 300, 1)).toEqual([])
})

describe('planted bugs', () => {
  test('each planted bug has a row in the docs', () => {
    const page = readFileSync(new URL('../../../docs/development/simulation.md', import.meta.url), 'utf8')
    const [, table = ''] = /\n\| planted bug \|.*\n\|.*\n((?:\|.*\n)+)/.exec(page) ?? []
    const rows = [...table.matchAll(/^\| (.+?) \|/gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual(BUGS.map(({ name }) => name).sort())
  })

  test.for(BUGS)('a planted bug still fits into the code: $name', ({ file, from, to }) => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
    expect([source.split(from).length, source.includes(to) && !from.includes(to)]).toEqual([2, false])
  })
})
