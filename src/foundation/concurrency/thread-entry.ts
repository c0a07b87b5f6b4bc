import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/**
 * The module `name` (without ending) beside the module `importer`, with the same ending, because the program runs from TypeScript or
 * compiled.
 */
export function threadEntry(name: string, importer: string): URL {
  const ending = extname(fileURLToPath(importer))
  if (ending === '.ts') keepWrappersUncompiled()
  return new URL(`${name}${ending}`, importer)
}

/**
 * Call it before a thread that runs WebAssembly starts: V8 may free compiled calls from there that another thread uses (seen in Node
 * 24.21: SIGSEGV in Runtime_TierUpWasmToJSWrapper), and the flag prevents their compilation. Threads that run TypeScript always use
 * WebAssembly, compiled ones only for the embedder.
 */
export function keepWrappersUncompiled(): void {
  setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
}

/** Call it before a thread computes by WebAssembly, whose optimization the program otherwise prevents; the value is V8's own. */
export function optimizeWebAssembly(): void {
  setFlagsFromString('--wasm-tiering-budget=13000000')
}
