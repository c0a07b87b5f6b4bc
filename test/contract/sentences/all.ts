import type { Sentence } from '../suite/sentence.ts'
import { access } from './access.ts'
import { assets } from './assets.ts'
import { descriptions } from './description.ts'
import { directories } from './directories.ts'
import { errors } from './errors.ts'
import { libraries } from './libraries.ts'
import { records } from './records.ts'
import { resources } from './resources.ts'
import { searches } from './search.ts'
import { uploads } from './uploads.ts'
import { viewUrls } from './view-urls.ts'

/** The sentences of sections 2 to 8 of the interface, by section. */
export const SENTENCES: readonly Sentence[] = [
  records,
  resources,
  access,
  assets,
  viewUrls,
  libraries,
  directories,
  uploads,
  searches,
  errors,
  descriptions,
]
  .flat()
  .sort((a, b) => compareSections(a.section, b.section))

/** `4.10` comes after `4.9`. */
function compareSections(a: string, b: string): number {
  const [[a1 = 0, a2 = 0], [b1 = 0, b2 = 0]] = [partsOf(a), partsOf(b)]
  return a1 - b1 || a2 - b2
}

function partsOf(section: string): number[] {
  return section.split('.').map(Number)
}
