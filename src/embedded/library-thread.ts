import { parentPort, workerData } from 'node:worker_threads'
import { messageOf, systemCodeOf } from '../foundation/errors.ts'
import { type WorkerMessage, type WorkerRequest, workerOptions, workerRequest } from './library-thread-messages.ts'
import { type EmbeddedLibrary, startEmbeddedLibrary } from './start-embedded.ts'

const post = (message: WorkerMessage) => parentPort?.postMessage(message)

void main().catch((error: unknown) => {
  post({ kind: 'failed', code: systemCodeOf(error), message: messageOf(error) })
  parentPort?.close()
})

/** Starts the library and answers the caller's requests until `stop`. */
async function main(): Promise<void> {
  const { dataDir, embedder = { kind: 'none' }, embedsDocuments = true } = workerOptions.parse(workerData)
  const library = await startEmbeddedLibrary({ dataDir, embedder, embedsDocuments })
  parentPort?.on('message', (raw) => answer(library, workerRequest.parse(raw)))
  const { url, token, tokenFile, documentationUrl, instanceId } = library
  post({ kind: 'started', library: { url, token, tokenFile, documentationUrl, instanceId } })
}

async function answer(library: EmbeddedLibrary, { call, name }: WorkerRequest): Promise<void> {
  try {
    await (name === 'settled' ? library.settled() : library[Symbol.asyncDispose]())
    post({ kind: 'ended', call })
  } catch (error) {
    post({ kind: 'ended', call, error: messageOf(error) })
  }
  if (name === 'stop') parentPort?.close()
}
