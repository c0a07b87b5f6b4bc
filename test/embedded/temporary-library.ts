import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type EmbeddedLibrary, type EmbeddedOptions, startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../contract/service-client.ts'

/** An empty directory that the caller removes. */
export function makeDirectory(): { readonly directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'embedded-'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** A directory that is removed when the test is over. */
export function temporaryDirectory(): string {
  const { directory, remove } = makeDirectory()
  onTestFinished(remove)
  return directory
}

export interface RunningLibrary {
  readonly dataDir: string
  readonly library: EmbeddedLibrary
  readonly client: ServiceClient
  stop(): Promise<void>
}

/** A library for the calling test, stopped when the test ends. */
export async function startLibrary(options: Partial<EmbeddedOptions> = {}): Promise<RunningLibrary> {
  const dataDir = options.dataDir ?? temporaryDirectory()
  const library = await startEmbeddedLibrary({ ...options, dataDir })
  const stop = async () => await library[Symbol.asyncDispose]()
  onTestFinished(stop)
  return { dataDir, library, client: new ServiceClient(library), stop }
}
