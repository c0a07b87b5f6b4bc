import type { MessagePort } from 'node:worker_threads'
import { answerCalls } from '../foundation/concurrency/thread-calls.ts'
import { threadData } from '../foundation/concurrency/threads.ts'
import { loadSqlite } from '../foundation/sqlite/open-database.ts'
import type { EmbeddingProgress } from './embedding/embedding-stage.ts'
import { type EmbeddedLibrary, startEmbeddedLibrary } from './start-embedded.ts'
import type { LibraryCall, LibraryThreadOptions, StartedLibrary } from './start-in-thread.ts'

const options: LibraryThreadOptions & { uploadPort: MessagePort } = threadData
let library: EmbeddedLibrary | undefined

const stop = async () => await library?.[Symbol.asyncDispose]()

loadSqlite()
answerCalls(answer, stop)

async function answer(call: LibraryCall): Promise<StartedLibrary | EmbeddingProgress> {
  library ??= await startEmbeddedLibrary({ ...options, ...(options.port === undefined && { onHandOver: stop }) })
  if (typeof call === 'number') return library.embedFor(call)
  if (call === 'settled') await library.settled()
  const { url, token, tokenFile, documentationUrl, instanceId } = library
  return { url, token, tokenFile, documentationUrl, instanceId }
}
