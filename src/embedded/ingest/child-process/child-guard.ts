/**
 * A thread of the child process that looks after it while a parser holds up its main thread: ends it when it takes more memory
 * than it may, and when its parent is gone.
 */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

export interface GuardData {
  readonly parentPid: number
  readonly memoryMiB: number
}

const INTERVAL_MS = 100
const STDERR = 2

const { parentPid, memoryMiB }: GuardData = workerData

setInterval(() => {
  const isOver = process.memoryUsage.rss() > memoryMiB * 2 ** 20
  if (isOver) writeSync(STDERR, 'out of memory')
  if (isOver || process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
}, INTERVAL_MS)
