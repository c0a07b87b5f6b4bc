import { isIdentifier, leavesPath } from '../../contract/identifier.ts'
import { normalizeLibraryPath } from '../../contract/library-path.ts'
import { API_PREFIX, fillPath, OPENAPI_PATH, ROUTES } from '../../contract/routes.ts'
import { RequestError, UsageError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { Query, Target } from './request.ts'

export interface Address {
  readonly method: string
  readonly path: string
  /** The label in metrics: the route's name, `description` or `raw`. */
  readonly name: string
}

/** Returns the address of a target. This is the allow-list: the client can send no other requests. */
export function addressOf(target: Target): Address {
  switch (target.kind) {
    case 'route': {
      const { method, path } = ROUTES[target.route]
      const { values = {}, query } = target
      for (const value of Object.values(values)) identifierOf(value)
      return { method, path: API_PREFIX + fillPath(path, values) + queryText(query), name: target.route }
    }
    case 'description':
      return { method: 'GET', path: OPENAPI_PATH, name: 'description' }
    case 'raw':
      return { ...parseRaw(target.method, target.path), name: 'raw' }
  }
}

/** Returns an identifier from outside; throws RequestError('invalid') if it could change an address. */
export function identifierOf(id: string): string {
  if (isIdentifier(id)) return id
  throw new RequestError('invalid', `Cannot use "${shorten(id)}": it is not an identifier`, 400)
}

/** Returns the canonical form of a library path from outside; throws RequestError('invalid') if it is malformed. */
export function libraryPathOf(path: string): string {
  const normalized = normalizeLibraryPath(path)
  if (normalized !== undefined) return normalized
  const expected = 'it is not a library path, which begins with "/" and has no "." and ".."'
  throw new RequestError('invalid', `Cannot use "${shorten(path)}": ${expected}`, 400)
}

function shorten(text: string): string {
  return escapeText(truncateText(text, 200))
}

function queryText(query: Query | undefined): string {
  if (!query || query.length === 0) return ''
  return `?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`).join('&')}`
}

const RAW_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Parses a request that the user wrote; `/v1/…` and `/api/v1/…` both name a path below `/api`. */
function parseRaw(method: string, path: string): { method: string; path: string } {
  const upper = method.toUpperCase()
  if (!RAW_METHODS.includes(upper)) {
    throw new UsageError('bad-usage', `Cannot send "${escapeText(method)}": the methods are ${RAW_METHODS.join(', ')}`)
  }
  const base = 'http://localhost'
  const url = URL.parse(path.startsWith(`${API_PREFIX}/`) ? path : `${API_PREFIX}${path}`, base)
  if (
    !path.startsWith('/') ||
    leavesPath(path.replace(/\?.*/s, '')) ||
    !url ||
    url.origin !== base ||
    !url.pathname.startsWith(`${API_PREFIX}/`)
  ) {
    throw new UsageError(
      'bad-usage',
      `Cannot call "${escapeText(path)}": it is not a path below ${API_PREFIX}, without "." and ".."`,
    )
  }
  return { method: upper, path: url.pathname + url.search }
}
