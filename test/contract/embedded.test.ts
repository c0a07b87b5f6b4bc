import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { describeServiceContract } from './service-contract.ts'

describeServiceContract('the embedded library', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'library-contract-'))
  const library = await startEmbeddedLibrary({ dataDir })
  return {
    url: library.url,
    token: library.token,
    settled: () => library.settled(),
    [Symbol.asyncDispose]: async () => {
      await library[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true })
    },
  }
})
