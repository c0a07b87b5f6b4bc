import { isIdentifier } from './identifier.ts'

/** The requests of the interface, and `deleteResource`, which only the embedded library answers. Paths start at `{base_url}/api`. */
export const ROUTES = {
  checkAccess: { method: 'GET', path: '/v1/auth/check' },
  downloadAsset: { method: 'GET', path: '/v1/assets/{asset}' },
  downloadScene: { method: 'GET', path: '/v1/assets/{asset}/representations/scene' },
  downloadFrame: { method: 'GET', path: '/v1/assets/{asset}/representations/frame' },
  createAssetViewUrl: { method: 'POST', path: '/v1/assets/{asset}/view-urls' },
  listLibraries: { method: 'GET', path: '/v1/libraries' },
  createLibrary: { method: 'POST', path: '/v1/libraries' },
  showLibrary: { method: 'GET', path: '/v1/libraries/{library}' },
  deleteLibrary: { method: 'DELETE', path: '/v1/libraries/{library}' },
  listDirectory: { method: 'GET', path: '/v1/libraries/{library}/directory' },
  createDirectory: { method: 'POST', path: '/v1/libraries/{library}/directory' },
  uploadFile: { method: 'POST', path: '/v1/libraries/{library}/files' },
  showResource: { method: 'GET', path: '/v1/libraries/{library}/resources/{resource}' },
  deleteResource: { method: 'DELETE', path: '/v1/libraries/{library}/resources/{resource}' },
  searchResources: { method: 'GET', path: '/v1/search/resources' },
  downloadResource: { method: 'GET', path: '/v1/resources/{resource}' },
  createResourceViewUrl: { method: 'POST', path: '/v1/resources/{resource}/view-urls' },
} as const

export type RouteName = keyof typeof ROUTES

/** The version of the interface that ROUTES and the records follow. */
export const INTERFACE_VERSION = '0.9.0'

export const API_PREFIX = '/api'

/** Where an instance serves its OpenAPI description, relative to `{base_url}`. */
export const OPENAPI_PATH = '/docs?api-docs.json'

/** How many entries a page of a list has by default and at most. */
export const PAGE_LIMITS = {
  libraries: { byDefault: 50, max: 500 },
  directory: { byDefault: 100, max: 500 },
} as const

/** The directory of uploaded files, unless the instance offers a field that names one. */
export const INBOX_PATH = '/.inbox'

/** Returns `path` with each `{name}` replaced by its percent-encoded value. Throws TypeError for a value that is no identifier. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`No value for {${name}} of ${path}`)
    if (!isIdentifier(value)) throw new TypeError(`The {${name}} of ${path} is not an identifier`)
    return encodeURIComponent(value)
  })
}
