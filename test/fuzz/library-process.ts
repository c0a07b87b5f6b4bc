/** Serves an embedded library for the fuzzer, in the directory that its argument names. Answers `settle` when all is ingested. */
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'

const [, , dataDir = ''] = process.argv
// Shorter than outside, so that requests whose body never ends are answered soon.
const requests = { bodyIdleMs: 10_000, headersMs: 10_000 }
const library = await startEmbeddedLibrary({ dataDir, requests })
process.on('message', async () => {
  await library.settled()
  process.send?.({ kind: 'settled' })
})
process.on('disconnect', () => process.exit())
process.send?.({ kind: 'ready', url: library.url, token: library.token })
