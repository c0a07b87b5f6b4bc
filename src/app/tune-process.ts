import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { baseDirectory } from '../foundation/files/home.ts'
import { makeOwnDirectory } from '../foundation/files/private-directory.ts'

/** Makes V8 use less memory, at a small cost of time. Call it after the program's code, which stays in memory, is loaded. */
export function keepMemorySmall(): void {
  // Most objects of a run are short-lived, so letting the nursery grow to 128 MB would gain nothing.
  setFlagsFromString('--semi-space-growth-factor=1')
  // Without this limit V8 lets garbage and its buffers grow to a multiple of what is in use.
  setFlagsFromString('--heap-growing-percent=60')
  // undici's parser is one large function of WebAssembly. Optimizing it takes 20 MB and saves nothing that can be measured.
  setFlagsFromString('--wasm-tiering-budget=2147483647')
}

/** Keeps compiled code in a directory of this user: all users share Node's default one, and Node would run code that others put there. */
export function keepCompiledCode(home: string, cacheHome = ''): void {
  try {
    const directory = join(baseDirectory(cacheHome, home, '.cache'), 'shelfd', 'code')
    makeOwnDirectory(directory)
    enableCompileCache(directory)
  } catch {
    // Without the cache the program only starts more slowly.
  }
}
