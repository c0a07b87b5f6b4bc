import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mimeOf } from '../../../src/contract/mime.ts'
import { needs } from '../../support/needs.ts'
import type { Program } from '../../support/programs.ts'
import { readHere } from './read-here.ts'

const SAMPLES = join(import.meta.dirname, 'samples')
const read = async (name: string) => await readHere(mimeOf(name), [readFileSync(join(SAMPLES, name))])
const samples = (prefix: string) => readdirSync(SAMPLES).filter((name) => name.startsWith(prefix))

/** In which order the words of each source stand in whatever format. */
const WORDS = {
  text: /lighthouse[\s\S]*larch[\s\S]*Brest[\s\S]*Маяк/,
  sheets: /Hemp[\s\S]*2024-02-29[\s\S]*Sisal/,
  slides: /Lights[\s\S]*Fresnel[\s\S]*Diaphone/,
}
const SOURCE: Readonly<Record<string, RegExp>> = {
  ...{ ods: WORDS.sheets, xlsx: WORDS.sheets, odp: WORDS.slides, pptx: WORDS.slides },
}

const PROGRAM_OF: Readonly<Record<string, Program>> = { doc: 'catdoc', xls: 'xls2csv' }

it.each([...samples('open.'), 'web.odt'])('%s of LibreOffice is read', async (name) => {
  const { text, end } = await read(name)
  expect(end.status).toBe('completed')
  expect(text).toMatch(SOURCE[name.split('.').at(-1) ?? ''] ?? WORDS.text)
})

it.each(samples('locked.'))('%s of LibreOffice ends as encrypted', async (name) => {
  const program = PROGRAM_OF[name.split('.').at(-1) ?? '']
  if (program) needs(program)
  await expect(read(name)).rejects.toThrow(/encrypted: reading it requires its password/)
})
