import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import { threadData } from '../../foundation/concurrency/threads.ts'
import { openServedLibrary } from '../database/open-library-database.ts'
import { openSearchIndex } from './search-index.ts'

const { databaseFile }: { readonly databaseFile: string } = threadData
const database = openServedLibrary(databaseFile)

answerCalls(openSearchIndex(database), () => {
  database.close()
})
