/** Thread entry: counts what the store in a directory holds, posts the counts and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { openStoreReader } from '../../store/open-store.ts'
import { countStore } from './count-store.ts'

function count(stateDir: string): void {
  using store = openStoreReader(stateDir)
  parentPort?.postMessage(store ? countStore(store) : [])
}

count(workerData)
