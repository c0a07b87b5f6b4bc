/** Thread entry: reads the store in a directory, one reading after the other. */
import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import { createReadings, type Readings } from './readings.ts'

const readings = createReadings(workerData)

answerCalls(({ name, input }: { readonly name: keyof Readings; readonly input: unknown }) =>
  readings[name](input as never),
)
