/** Entry of the thread that reads the store for the dashboard and the metrics. */
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import { threadData } from '../../foundation/concurrency/threads.ts'
import { loadSqlite } from '../../foundation/sqlite/open-database.ts'
import { createReadings, type Readings } from './readings.ts'

const readings = createReadings(threadData)

loadSqlite()

answerCalls(({ name, input }: { readonly name: keyof Readings; readonly input: unknown }) =>
  readings[name](input as never),
)
