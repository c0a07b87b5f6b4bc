import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url))
const FRAME = /^(?<before>\s+at (?:async )?(?:.*\()?)(?<place>[^()]+):(?<line>\d+):(?<column>\d+)(?=\)?$)/gm

/**
 * A stack whose places in the bundle are replaced by those in its sources, as the maps beside the bundle's files have them.
 * Maps are read only here: with `node --enable-source-maps` each start would read them.
 */
export function stackInSources(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return stack.replaceAll(FRAME, (frame, before: string, place: string, line: string, column: string) => {
    const file = place.startsWith('file:') ? fileURLToPath(place) : place
    if (!maps.has(file)) maps.set(file, readMap(file))
    const origin = maps.get(file)?.findOrigin(Number(line), Number(column))
    if (!origin || !('fileName' in origin)) return frame
    const source = relative(PACKAGE, join(dirname(file), origin.fileName))
    return `${before}${source}:${origin.lineNumber}:${origin.columnNumber}`
  })
}

/** Undefined for a file without a readable map, as all files of a checkout are. */
function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch {
    return undefined
  }
}
