/**
 * Puts the program into few files: one that starts it, one for each thread and child process, and parts that these load when a
 * command needs them. See docs/decisions/044-rolldown.md.
 */
import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'rolldown'
import packageJson from '../package.json' with { type: 'json' }
import { bundleWeb } from './bundle-web.ts'
import { FROM_DEVELOPMENT, licenceOf } from './licences.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SRC = join(ROOT, 'src')
const UNDICI = join(ROOT, 'node_modules', 'undici')

/** What Node starts, without ending: the program, its threads and its child processes. */
export const ENTRIES: readonly string[] = [
  'main',
  'embedded/embedding/offline-thread',
  'embedded/ingest/child-process/child',
  'embedded/ingest/child-process/child-guard',
  'embedded/search/search-thread',
  'embedded/library-thread',
  'local/read/mount-thread',
  'sync/reading/reading-thread',
  'sync/scan/walk-thread',
]

/** Packages of JavaScript alone that each start needs. All others stay packages: they may have native parts, threads or data. */
const BUNDLED: readonly string[] = [
  ...['csv-parse', 'eventemitter3', 'htmlparser2', 'ignore', 'p-queue', 'p-timeout', 'undici', 'yaml', 'zod'],
  ...[
    'yargs',
    'yargs-parser',
    'cliui',
    'escalade',
    'get-caller-file',
    'string-width',
    'y18n',
    'domelementtype',
    'domhandler',
    'domutils',
    'dom-serializer',
    'entities',
  ],
  ...[
    'fastify',
    '@fastify/error',
    '@fastify/proxy-addr',
    '@fastify/forwarded',
    '@fastify/deepmerge',
    'abstract-logging',
    'avvio',
    'fastq',
  ],
  ...[
    'reusify',
    'find-my-way',
    'fast-deep-equal',
    'fast-querystring',
    'fast-decode-uri-component',
    'safe-regex2',
    'ret',
  ],
  ...[
    'ipaddr.js',
    'fast-json-stringify',
    'light-my-request',
    'cookie',
    'set-cookie-parser',
    'process-warning',
    'rfdc',
    'secure-json-parse',
    'semver',
    'toad-cache',
  ],
]

/** Imports in whose place the bundle takes a part of a package, or nothing of it. */
const IN_PARTS: Readonly<Record<string, string>> = {
  undici: join(ROOT, '.ci', 'undici-parts.js'),
  './client-h2.js': join(ROOT, '.ci', 'no-http2.cjs'),
  // yargs lays out its help with them, and loads tables of the widths of emoji for that; our help needs neither.
  cliui: join(ROOT, '.ci', 'no-help.js'),
  'string-width': join(ROOT, '.ci', 'no-help.js'),
  // Fastify loads them where nobody gives it compilers of schemas (src/embedded/http/endpoint.ts).
  '@fastify/ajv-compiler': join(ROOT, '.ci', 'no-help.js'),
  '@fastify/fast-json-stringify-compiler': join(ROOT, '.ci', 'no-help.js'),
  // pg loads them on Cloudflare, and where a user asks for the client in C.
  'pg-cloudflare': join(ROOT, '.ci', 'no-help.js'),
  'pg-native': join(ROOT, '.ci', 'no-help.js'),
}

/** keepPlaces changes no line, which is what a stack trace shows; yargs can extend a configuration file, and we have none. */
const EXPECTED_LOGS: readonly string[] = ['SOURCEMAP_BROKEN', 'EMPTY_IMPORT_META']

/**
 * Bundles src into the directory `dist`, and puts beside it what the program reads: its migrations, and its pages. Files of `more` are
 * entries as well, named as they are without their directories.
 */
export async function bundle(dist: string, more: readonly string[] = []): Promise<void> {
  const ours = ENTRIES.map((name) => [name, join(SRC, `${name}.ts`)])
  await build({
    cwd: ROOT,
    input: Object.fromEntries([...ours, ...more.map((file) => [basename(file, '.ts'), file])]),
    platform: 'node',
    external: isOutside,
    plugins: [takeParts, keepPlaces, loadLate, addLicences],
    onLog: (_level, { code = '', message }) => {
      if (!EXPECTED_LOGS.includes(code)) throw new Error(message)
    },
    output: {
      dir: dist,
      // Importing a part of Node by `import` loads all that it can load; `require` does not.
      format: 'cjs',
      strict: true,
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'parts/[name]-[hash].js',
    },
  })
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n')
  for (const file of globSync(join(SRC, '**', '*.sql'))) cpSync(file, join(dist, relative(SRC, file)))
  mkdirSync(join(dist, 'web'))
  for (const { name, body } of await bundleWeb()) writeFileSync(join(dist, 'web', name), body)
}

/** Throws for a package that nobody would install: only the direct dependencies are named. */
function isOutside(id: string): boolean {
  if (id.startsWith('.') || id.startsWith('/') || id.startsWith(ROOT)) return false
  if (isBuiltin(id)) return true
  const name = id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/')
  if (Object.hasOwn(IN_PARTS, id) || BUNDLED.includes(name) || FROM_DEVELOPMENT.includes(name)) return false
  if (name in { ...packageJson.dependencies, ...packageJson.optionalDependencies }) return true
  throw new Error(`"${id}" is no dependency and is not bundled (.ci/bundle.ts)`)
}

/** What only fetch, another parser or an old processor needs of undici stays in the package, which can load it there. */
const RARE_IN_UNDICI = /^\.\.\/(?:web\/|milo\/|llhttp\/llhttp-wasm\.js$)/

const takeParts: Plugin = {
  name: 'take-parts',
  resolveId: (source, importer) => {
    if (importer?.startsWith(UNDICI) && RARE_IN_UNDICI.test(source)) {
      return { id: `undici/lib/${source.slice('../'.length)}`, external: true }
    }
    return Object.hasOwn(IN_PARTS, source) ? IN_PARTS[source] : null
  },
}

/** The file of yargs that asks for its own place, in whose neighbourhood it looks for locales. */
const YARGS_PLATFORM = join('node_modules', 'yargs', 'lib', 'platform-shims', 'esm.mjs')

/** Lets `import.meta` of a module name the place that it would have in `dist` if every module were a file there. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform: (code, id) => {
    const isOurs = id.startsWith(SRC)
    if (!(isOurs || id.endsWith(YARGS_PLATFORM)) || !code.includes('import.meta')) return null
    const place = (isOurs ? relative(SRC, id) : YARGS_PLATFORM).replaceAll(sep, '/').replace(/\.m?ts$/, '.js')
    const placed = code
      .replaceAll('import.meta.url', `placeInDist('url', '${place}')`)
      .replaceAll('import.meta.dirname', `placeInDist('directory', '${dirname(place)}')`)
    if (placed.includes('import.meta')) throw new Error(`"${place}" uses import.meta in a way that is not bundled`)
    return placed
  },
  renderChunk: (code, { fileName }) => {
    const toDist = posix.relative(posix.dirname(fileName), '.') || '.'
    return code.replaceAll(/placeInDist\(["'`](url|directory)["'`], ["'`](.*?)["'`]\)/g, (_, kind, place) => {
      const path = `require('node:path').join(__dirname, '${toDist}', '${place}')`
      return kind === 'url' ? `require('node:url').pathToFileURL(${path}).href` : path
    })
  },
}

/** Parts of Node that few commands use; each of them takes milliseconds. */
const LATE =
  /^(\t?)(?:let|const) (\w+) = require\("(node:(?:child_process|https?|http2|net|readline|tls|worker_threads|zlib))"\);$/gm

/** Loads a part of Node when the code uses the first thing of it. */
const loadLate: Plugin = {
  name: 'load-late',
  renderChunk: (code) =>
    code.replaceAll(LATE, '$1const $2 = new Proxy({}, { get: (_, name) => require("$3")[name] });'),
}

/** At the end, so that no line of the code moves. */
const addLicences: Plugin = {
  name: 'add-licences',
  renderChunk: (code, { moduleIds }) => {
    const contained = FROM_DEVELOPMENT.filter((name) =>
      moduleIds.some((id) => id.startsWith(join(ROOT, 'node_modules', name, '/'))),
    )
    return contained.length === 0 ? null : `${code}\n${contained.map(licenceOf).join('')}`
  },
}
