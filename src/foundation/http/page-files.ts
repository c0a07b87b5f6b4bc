import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCodeOf } from '../errors.ts'
import { typedProgram } from '../typed-program.ts'

/** By name: pages such as `library.html`, and files whose names change with their contents. */
export type PageFiles = ReadonlyMap<string, { readonly body: Buffer; readonly entityTag: string }>

export const PAGE_FILES_PATH = '/web'

/** The answer in a checkout without the bundler. */
export const NOT_BUILT = 'This page is not built: run "npm ci" in the checkout, then start again'

/** A page may run only its own script and talk only to its own server. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/** Returns a `cache-control`: browsers ask for a page each time, and keep other files, whose names change with their contents. */
export function cachingOf(name: string): string {
  return name.endsWith('.html') ? 'no-cache' : 'public, max-age=31536000, immutable'
}

interface NamedFile {
  readonly name: string
  readonly body: Buffer
}

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts')
const BUNDLED = join(import.meta.dirname, '..', '..', 'web')

let loaded: Promise<PageFiles | undefined> | undefined

/** Loads the files once: those of the build or, in a checkout, newly bundled ones. Returns undefined if there is no bundler. */
export async function loadPageFiles(program = typedProgram()): Promise<PageFiles | undefined> {
  loaded ??= RUNS_FROM_SOURCE ? bundleSources(program) : readBundled()
  return await loaded
}

async function readBundled(): Promise<PageFiles> {
  return toPageFiles(readdirSync(BUNDLED).map((name) => ({ name, body: readFileSync(join(BUNDLED, name)) })))
}

async function bundleSources(program: string): Promise<PageFiles | undefined> {
  try {
    const bundler = await import(new URL('../../../.ci/bundle-web.ts', import.meta.url).href)
    const files: readonly NamedFile[] = await bundler.bundleWeb()
    return toPageFiles(files.map((file) => (file.name.endsWith('.html') ? withProgram(file, program) : file)))
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}

/** Replaces the program's name in `<meta name="program">` and `<code>`. */
function withProgram({ name, body }: NamedFile, program: string): NamedFile {
  const text = program.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  const html = body.toString('utf8').replaceAll(/(?<=name="program" content="|<code>)shelfd\b/g, () => text)
  return { name, body: Buffer.from(html) }
}

function toPageFiles(files: readonly NamedFile[]): PageFiles {
  return new Map(files.map(({ name, body }) => [name, { body, entityTag: entityTagOf(body) }]))
}

function entityTagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`
}
