import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import { openServedLibrary } from '../database/open-library-database.ts'
import { openSearchIndex } from './search-index.ts'

const { databaseFile }: { readonly databaseFile: string } = workerData
const database = openServedLibrary(databaseFile)

answerCalls(openSearchIndex(database), () => {
  database.close()
})
