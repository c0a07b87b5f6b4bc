import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url))
const FRAME = /^(?<before>[ \t]+at (?:async )?(?:.*\()?)(?<address>[^()\n]+):(?<line>\d+):(?<column>\d+)(?=\)?$)/gm

/** Replaces positions in the bundle by positions in its sources. With `--enable-source-maps`, each start would read the maps. */
export function stackInSources(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return stack.replaceAll(FRAME, (frame, before: string, address: string, line: string, column: string) => {
    const file = address.startsWith('file:') ? fileURLToPath(address) : address
    if (!maps.has(file)) maps.set(file, readMap(file))
    const origin = maps.get(file)?.findOrigin(Number(line), Number(column))
    if (!origin || !('fileName' in origin)) return frame
    const source = relative(PACKAGE, join(dirname(file), origin.fileName))
    return `${before}${source}:${origin.lineNumber}:${origin.columnNumber}`
  })
}

/** Returns undefined if there is no readable map, as in a checkout. */
function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch {
    return undefined
  }
}
