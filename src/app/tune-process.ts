import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { baseDirectory } from '../foundation/files/home.ts'
import { makeOwnDirectory } from '../foundation/files/private-directory.ts'

/**
 * Lets V8 take less memory, at a small cost of processor time. Call it once the program is loaded: code and schemas stay, and a nursery
 * of 1 MB would be emptied of them again and again.
 */
export function keepMemorySmall(): void {
  // The objects of a run are short-lived: the nursery would grow to 128 MB for no gain.
  setFlagsFromString('--semi-space-growth-factor=1')
  // Without this limit V8 lets garbage and the buffers that belong to it grow to a multiple of what is in use.
  setFlagsFromString('--heap-growing-percent=60')
  // undici's parser is one large function of WebAssembly. Optimizing it takes 20 MB and saves nothing that can be measured.
  setFlagsFromString('--wasm-tiering-budget=2147483647')
}

/**
 * Keeps compiled code for the next start in a directory that belongs to this user alone. Node's default is a shared
 * temporary directory, and Node would run code that other users put there.
 */
export function keepCompiledCode(home: string, given = ''): void {
  try {
    const directory = join(baseDirectory(given, home, '.cache'), 'shelfd', 'code')
    makeOwnDirectory(directory)
    enableCompileCache(directory)
  } catch {
    // Without the cache the program only starts more slowly.
  }
}
