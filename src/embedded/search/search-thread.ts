import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { messageOf } from '../../foundation/errors.ts'
import { openServedLibrary } from '../database/open-library-database.ts'
import { openSearchIndex } from './search-index.ts'
import { type SearchAnswered, type SearchCall, searchCall } from './search-messages.ts'

const database = openServedLibrary(z.object({ databaseFile: z.string() }).parse(workerData).databaseFile)
const search = openSearchIndex(database)

parentPort?.on('message', (raw) => {
  if (raw === 'stop') {
    database.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(answer(searchCall.parse(raw)))
  }
})

function answer({ call, ...request }: SearchCall): SearchAnswered {
  try {
    return { kind: 'found', call, result: search(request) }
  } catch (error) {
    return { kind: 'failed', call, error: messageOf(error) }
  }
}
