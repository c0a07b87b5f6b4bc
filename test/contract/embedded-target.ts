import { setTimeout as wait } from 'node:timers/promises'
import { createToken } from '../../src/embedded/access/manage-tokens.ts'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { systemClock } from '../../src/foundation/clock.ts'
import { makeDirectory } from '../embedded/temporary-library.ts'
import type { Target } from './suite/target.ts'

/** Starts an embedded library with a credential of each role, for the suite to write to. */
export async function startTarget(): Promise<{ target: Target; stop(): Promise<void> }> {
  const { directory, remove } = makeDirectory()
  let lateMs = 0
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + lateMs }
  const library = await startEmbeddedLibrary({ dataDir: directory, clock })
  const make = (name: string, spec: Omit<Parameters<typeof createToken>[1], 'name'>) =>
    createToken(directory, { name, libraries: 'all', ...spec }, clock.nowMs())
  return {
    target: {
      url: library.url,
      tokens: {
        owner: library.token,
        reader: make('reader', { access: ['read'] }),
        steward: make('steward', { abilities: ['library.create', 'library.delete'] }),
        agent: make('agent', { access: ['read'], interfaces: ['mcp'] }),
      },
      mayWrite: true,
      processingMs: 30_000,
      fetch,
      wait,
      laterBy: async (minutes) => {
        lateMs += minutes * 60_000
      },
    },
    stop: async () => {
      await library[Symbol.asyncDispose]()
      remove()
    },
  }
}
