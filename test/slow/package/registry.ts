import { once } from 'node:events'
import { createServer } from 'node:http'
import lock from '../../../package-lock.json' with { type: 'json' }

interface Locked {
  /** Of a package that stands in for another one. */
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
}

/** The entries of the lock file that are installed with the program, by the name under which others depend on them. */
const packages = Map.groupBy(
  Object.entries<Locked>(lock.packages).filter(([place, { dev, link }]) => {
    return place.startsWith('node_modules/') && !dev && !link
  }),
  ([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
)

/** officeparser wants this one version, and nothing loads it: as in a checkout, an empty package stands in for it (`overrides`). */
const STANDS_IN: Readonly<Record<string, string>> = {
  'pdfjs-dist': lock.packages['node_modules/officeparser'].dependencies['pdfjs-dist'],
}

/**
 * Starts a registry on loopback that describes each package as the registry at `origin` does, with the versions of the lock file alone. Their
 * archives npm has in its cache since `npm ci`, and finds there by their checksums; those that it lacks it gets from `origin`.
 */
export async function startRegistry(origin: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url = '' }, answer) => {
    const name = decodeURIComponent(url.slice(1))
    const found = packages.get(name)
    if (found) answer.writeHead(200, { 'content-type': 'application/json' }).end(describePackage(origin, name, found))
    else answer.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function describePackage(origin: string, name: string, found: readonly (readonly [string, Locked])[]): string {
  const versions = found.map(([, locked]) => {
    const { name: isIn = name, integrity, version } = locked
    const tarball = new URL(`${isIn}/-/${isIn.slice(isIn.indexOf('/') + 1)}-${version}.tgz`, origin).href
    const described = { ...locked, name, version: STANDS_IN[name] ?? version, dist: { tarball, integrity } }
    return [described.version, described] as const
  })
  return JSON.stringify({ name, 'dist-tags': { latest: versions.at(-1)?.[0] }, versions: Object.fromEntries(versions) })
}
