import { EXTENSIONS_BY_MIME, PLAIN_TEXT_NAMES } from './mime-table.ts'

export { MIME_TABLE_VERSION } from './mime-table.ts'

const UNKNOWN = 'application/octet-stream'

const MIME_BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS_BY_MIME).flatMap(([mime, extensions]) =>
    extensions.split(' ').map((extension) => [extension, mime] as const),
  ),
)

const TEXT_NAMES: ReadonlySet<string> = new Set(PLAIN_TEXT_NAMES.trim().split(/\s+/))

/** The MIME type of a file by its name alone: by its extension, or by a known name such as `Makefile` and `LICENSE`. */
export function mimeOf(fileName: string): string {
  const name = fileName.toLowerCase()
  const dot = name.lastIndexOf('.')
  const byExtension = dot > 0 ? MIME_BY_EXTENSION.get(name.slice(dot + 1)) : undefined
  if (byExtension !== undefined) return byExtension
  return TEXT_NAMES.has(name) || (dot > 0 && TEXT_NAMES.has(name.slice(0, dot))) ? 'text/plain' : UNKNOWN
}
