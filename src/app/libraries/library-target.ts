import { normalizeLibraryPath } from '../../contract/library-path.ts'
import { UsageError } from '../../foundation/errors.ts'

export interface LibraryTarget {
  /** Identifier or exact name. */
  readonly library: string
  /** Canonical path; undefined when only the library was named. */
  readonly path: string | undefined
}

/** Reads `LIBRARY` or `LIBRARY:/path`; throws UsageError('bad-usage'). */
export function parseLibraryTarget(text: string): LibraryTarget {
  const colon = text.indexOf(':/')
  if (colon === -1) return { library: withoutColon(text), path: undefined }
  const path = normalizeLibraryPath(text.slice(colon + 1))
  if (colon > 0 && path !== undefined) return { library: text.slice(0, colon), path }
  throw new UsageError('bad-usage', `Cannot use "${text}": it must be LIBRARY or LIBRARY:/path, without "." and ".."`)
}

/** Accepts `Research:` for the library `Research`. */
function withoutColon(text: string): string {
  return text.length > 1 && text.endsWith(':') ? text.slice(0, -1) : text
}
