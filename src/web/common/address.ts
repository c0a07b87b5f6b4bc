/** What the page's address says after the `#`, such as `#/files/LIBRARY/Papers?page=2`. It never holds a credential. */
export interface Address {
  readonly view: string
  /** The decoded parts of the path after the view, such as a library and the names of nested directories. */
  readonly names: readonly string[]
  readonly query: Readonly<Record<string, string>>
  /** The values of all parameters `word` of the query. */
  readonly words: readonly string[]
}

export function parseAddress(hash: string): Address {
  const [path = '', parameters = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [view = '', ...names] = path.split('/').map(decode)
  const query = new URLSearchParams(parameters)
  return {
    view,
    names: names.filter((name) => name !== ''),
    query: Object.fromEntries(query),
    words: query.getAll('word'),
  }
}

type Query = Readonly<Record<string, string | readonly string[]>>

/** Returns an address for `parseAddress` to read; empty names and values are left out. */
export function addressOf(view: string, query: Query = {}, names: readonly string[] = []): string {
  const path = [view, ...names.filter((name) => name !== '')].map(encodeURIComponent).join('/')
  const values = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  )
  const text = new URLSearchParams(values.filter(([, value]) => value !== '')).toString()
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

export interface ViewProps extends Address {
  /** The address that was shown before; empty at first. */
  readonly cameFrom: string
  /** Whether the view's heading takes the focus, so that a screen reader reads it; false for the first view. */
  readonly takesFocus: boolean
}
