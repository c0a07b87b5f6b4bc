import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Returns the path of a documentation page on this computer. If this installation has no docs, it returns `docs/NAME`. */
export function docsPage(name: string): string {
  const file = join(dirname(createRequire(import.meta.url).resolve('../../../package.json')), 'docs', name)
  return existsSync(file) ? file : `docs/${name}`
}
