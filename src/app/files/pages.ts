import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Returns the path of a page of the docs as this installation has it, and otherwise its name. */
export function pageOfDocs(name: string): string {
  const file = join(dirname(createRequire(import.meta.url).resolve('../../../package.json')), 'docs', name)
  return existsSync(file) ? file : `docs/${name}`
}
