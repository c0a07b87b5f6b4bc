import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../../support/compiled-program.ts'

const PAGE = join(PROJECT, 'docs', 'development', 'benchmarks.md')
const PICTURES = join(PROJECT, 'docs', 'images')

/** Puts the results of a row between its two markers in the page; throws if the page does not have them. */
export function writeResults(row: string, text: string): void {
  writeFileSync(PAGE, replaceBetween(readFileSync(PAGE, 'utf8'), row, text))
}

export function writePicture(name: string, svg: string): void {
  mkdirSync(PICTURES, { recursive: true })
  writeFileSync(join(PICTURES, name), svg)
}

function replaceBetween(page: string, row: string, text: string): string {
  const [begin, end] = [`<!-- results of ${row} -->`, `<!-- end of ${row} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/development/benchmarks.md needs "${begin}" and "${end}"`)
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`
}
