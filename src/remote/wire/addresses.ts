import { API_PREFIX, fillPath, OPENAPI_PATH, ROUTES } from '../../contract/routes.ts'
import { UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Query, Target } from './request.ts'

export interface Address {
  readonly method: string
  readonly path: string
  /** The label in metrics: the route's name, `description` or `raw`. */
  readonly name: string
}

/** The allow-list: the client can build only requests that a target describes. */
export function addressOf(target: Target): Address {
  switch (target.kind) {
    case 'route': {
      const { method, path } = ROUTES[target.route]
      return {
        method,
        path: API_PREFIX + fillPath(path, target.values ?? {}) + queryText(target.query),
        name: target.route,
      }
    }
    case 'description':
      return { method: 'GET', path: OPENAPI_PATH, name: 'description' }
    case 'raw':
      return { ...parseRaw(target.method, target.path), name: 'raw' }
  }
}

function queryText(query: Query | undefined): string {
  if (!query || query.length === 0) return ''
  return `?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`
}

const RAW_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Parses a request that the user spelled out; `/v1/…` and `/api/v1/…` both name a path below `/api`. */
function parseRaw(method: string, path: string): { method: string; path: string } {
  const upper = method.toUpperCase()
  if (!RAW_METHODS.includes(upper)) {
    throw new UsageError('bad-usage', `Cannot send "${escapeText(method)}": the methods are ${RAW_METHODS.join(', ')}`)
  }
  const base = 'http://localhost'
  const url = URL.parse(path.startsWith(`${API_PREFIX}/`) ? path : `${API_PREFIX}${path}`, base)
  if (!path.startsWith('/') || !url || url.origin !== base || !url.pathname.startsWith(`${API_PREFIX}/`)) {
    throw new UsageError('bad-usage', `Cannot call "${escapeText(path)}": it is not a path below ${API_PREFIX}`)
  }
  return { method: upper, path: url.pathname + url.search }
}
