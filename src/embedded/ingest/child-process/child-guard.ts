/**
 * A thread that watches its process while a parser blocks the main thread. It ends the process when that uses more memory than
 * allowed, or when the parent has ended.
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
