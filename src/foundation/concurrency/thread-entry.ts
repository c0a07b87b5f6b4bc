import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/** Returns the module `name` beside the module `importer`, with its ending: the program runs from TypeScript or compiled. */
export function threadEntry(name: string, importer: string): URL {
  const ending = extname(fileURLToPath(importer))
  if (ending === '.ts') keepWrappersUncompiled()
  return new URL(`${name}${ending}`, importer)
}

/**
 * Call it before a thread that runs WebAssembly starts. V8 may free compiled calls from WebAssembly to JavaScript that another thread uses
 * (seen in Node 24.21: SIGSEGV in Runtime_TierUpWasmToJSWrapper); the flag prevents their compilation. A thread that runs TypeScript always
 * uses WebAssembly; a thread of the compiled program uses it only for the embedder.
 */
export function keepWrappersUncompiled(): void {
  setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
}

/** Call it before a thread computes with WebAssembly, whose optimization the program otherwise prevents. The value is V8's default. */
export function optimizeWebAssembly(): void {
  setFlagsFromString('--wasm-tiering-budget=13000000')
}
