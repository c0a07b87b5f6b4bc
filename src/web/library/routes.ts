import { joinLibraryPath } from '../../contract/library-path.ts'

/** The view that the page shows, as in the part of its address after the `#`. */
export type Route = { readonly view: 'libraries' } | DirectoryRoute | DocumentRoute | SearchRoute

export interface DirectoryRoute {
  readonly view: 'directory'
  readonly library: string
  readonly path: string
  /** Counted from 1. */
  readonly page: number
  /** The cursor of the page; empty for the first one. */
  readonly cursor: string
}

export interface DocumentRoute {
  readonly view: 'document'
  readonly library: string
  readonly resource: string
  /** The position of the passage to show first; undefined for the beginning. */
  readonly position: number | undefined
  readonly words: readonly string[]
}

export interface SearchRoute {
  readonly view: 'search'
  readonly query: string
  /** An empty text means all. */
  readonly library: string
  /** An empty text means all. */
  readonly directory: string
  /** An empty text means all. */
  readonly kind: string
  /** `all`: also earlier versions. */
  readonly versions: string
}

const SEARCH_PARAMETERS = ['query', 'library', 'directory', 'kind', 'versions'] as const

export function documentRoute(library: string, resource: string): DocumentRoute {
  return { view: 'document', library, resource, position: undefined, words: [] }
}

export function directoryRoute(library: string, path: string): DirectoryRoute {
  return { view: 'directory', library, path, page: 1, cursor: '' }
}

/** Reads an address such as `#/files/LIBRARY/Papers/2024?page=2&cursor=…`; what is not one leads to the libraries. */
export function parseAddress(address: string): Route {
  const [path = '', parameters = ''] = address.replace(/^#\/?/, '').split('?', 2)
  const given = new URLSearchParams(parameters)
  const [view, library = '', ...rest] = path.split('/').map(decode)
  switch (view) {
    case 'files': {
      const page = Math.max(1, Number(given.get('page') ?? 1) || 1)
      const directory = joinLibraryPath('/', rest.filter((name) => name !== '').join('/'))
      return { view: 'directory', library, path: directory, page, cursor: given.get('cursor') ?? '' }
    }
    case 'documents': {
      const position = given.get('at')
      return {
        view: 'document',
        library,
        resource: rest[0] ?? '',
        position: position ? Number(position) || 0 : undefined,
        words: given.getAll('word'),
      }
    }
    case 'search': {
      const [query = '', library = '', directory = '', kind = '', versions = ''] = SEARCH_PARAMETERS.map(
        (name) => given.get(name) ?? '',
      )
      return { view: 'search', query, library, directory, kind, versions }
    }
    default:
      return { view: 'libraries' }
  }
}

/** The address that `parseAddress` reads. */
export function addressOf(route: Route): string {
  switch (route.view) {
    case 'libraries':
      return '#/'
    case 'directory': {
      const names = route.path.split('/').filter((name) => name !== '')
      const query = route.page > 1 ? { page: String(route.page), cursor: route.cursor } : {}
      return withQuery(['files', route.library, ...names], query)
    }
    case 'document': {
      const position: [string, string][] = route.position === undefined ? [] : [['at', String(route.position)]]
      const words = route.words.map((word): [string, string] => ['word', word])
      return withQuery(['documents', route.library, route.resource], [...position, ...words])
    }
    case 'search': {
      const filled = SEARCH_PARAMETERS.map((name) => [name, route[name]] as const).filter(([, value]) => value !== '')
      return withQuery(['search'], Object.fromEntries(filled))
    }
  }
}

function withQuery(names: readonly string[], query: Readonly<Record<string, string>> | [string, string][]): string {
  const path = `#/${names.map(encodeURIComponent).join('/')}`
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

export interface ViewProps {
  readonly cameFrom: string
  /** True when its heading takes the focus. */
  readonly takesFocus: boolean
}
