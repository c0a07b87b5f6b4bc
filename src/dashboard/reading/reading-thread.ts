/** Thread entry: reads the store in a directory, one reading after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { faultOf } from '../../foundation/http/fault.ts'
import { createReadings } from './readings.ts'
import type { ReadingRequest, ReadingResponse } from './thread-messages.ts'

const readings = createReadings(workerData)

function read({ id, name, input }: ReadingRequest): ReadingResponse {
  try {
    return { id, answer: readings[name](input as never) }
  } catch (error) {
    return { id, fault: faultOf(error) }
  }
}

parentPort?.on('message', (request: ReadingRequest) => parentPort?.postMessage(read(request)))
