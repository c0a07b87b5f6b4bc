import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/**
 * The module that a thread runs: `name` without its ending, beside the module with the URL `importer`, whose ending it gets,
 * because the program runs from its TypeScript sources and compiled.
 */
export function threadEntry(name: string, importer: string): URL {
  const ending = extname(fileURLToPath(importer))
  if (ending === '.ts') keepWrappersUncompiled()
  return new URL(`${name}${ending}`, importer)
}

/**
 * Call it before a thread that runs WebAssembly starts. V8 compiles the calls from there to JavaScript after the thousandth,
 * shares them among threads, and at times frees what another thread uses (seen in Node 24.21: SIGSEGV in
 * Runtime_TierUpWasmToJSWrapper). The flag prevents that compilation. A thread that runs sources always uses WebAssembly, by which
 * Node strips their types; of the threads of compiled programs, only the embedder does.
 */
export function keepWrappersUncompiled(): void {
  setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
}

/** Call it before a thread that computes by WebAssembly starts, since the program keeps V8 from optimizing that; the value is V8's own. */
export function optimizeWebAssembly(): void {
  setFlagsFromString('--wasm-tiering-budget=13000000')
}
