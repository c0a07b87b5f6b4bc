/**
 * A thread that watches its process, even while a parser blocks the main thread. If the process uses too much memory, or its parent has
 * ended, the thread ends the process and the programs that it runs.
 */
import { writeSync } from 'node:fs'
import { serveThread, threadData } from '../../../foundation/concurrency/threads.ts'

export interface GuardData {
  readonly parentPid: number
  readonly memoryMiB: number
}

const INTERVAL_MS = 100
const STDERR = 2

const { parentPid, memoryMiB }: GuardData = threadData

const timer = setInterval(() => {
  const isOver = process.memoryUsage.rss() > memoryMiB * 2 ** 20
  if (isOver) writeSync(STDERR, 'out of memory')
  if (isOver || process.ppid !== parentPid)
    process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
}, INTERVAL_MS)
serveThread(
  () => {},
  () => clearInterval(timer),
)
