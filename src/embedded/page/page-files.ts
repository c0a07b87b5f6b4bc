import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { ApiError } from '../http/api-error.ts'

export interface PageFile {
  readonly body: Buffer
  readonly entityTag: string
}

/** The files of the pages by name: `library.html`, and others whose names change with their bytes. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** What .ci/bundle-web.ts exports. */
interface Bundler {
  bundleWeb(): Promise<readonly { readonly name: string; readonly body: Buffer }[]>
}

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts')
const BUNDLED = join(import.meta.dirname, '..', '..', 'web')

let loaded: Promise<PageFiles> | undefined

/**
 * Loads the pages once in the life of the process: those that the build has put beside the program, or, in a checkout, bundled anew.
 * Throws 503 if the bundler is not installed there.
 */
export async function loadPageFiles(): Promise<PageFiles> {
  loaded ??= RUNS_FROM_SOURCE ? bundleSources() : readBundled()
  return await loaded
}

async function readBundled(): Promise<PageFiles> {
  return toPageFiles(readdirSync(BUNDLED).map((name) => ({ name, body: readFileSync(join(BUNDLED, name)) })))
}

async function bundleSources(): Promise<PageFiles> {
  try {
    const bundler: Bundler = await import(new URL('../../../.ci/bundle-web.ts', import.meta.url).href)
    return toPageFiles(await bundler.bundleWeb())
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ApiError(503, 'The page of the library is not built: run "npm ci" in the checkout, then start again')
  }
}

function toPageFiles(files: readonly { readonly name: string; readonly body: Buffer }[]): PageFiles {
  return new Map(files.map(({ name, body }) => [name, { body, entityTag: entityTagOf(body) }]))
}

function entityTagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`
}
