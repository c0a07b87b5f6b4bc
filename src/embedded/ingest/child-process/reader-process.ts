import { type ChildProcess, fork } from 'node:child_process'
import { threadEntry } from '../../../foundation/thread-entry.ts'
import type { ExtractionLimits } from '../extraction-limits.ts'
import { type ChildMessage, type ChildRequest, childMessage } from './child-messages.ts'

const ENTRY = threadEntry('./child', import.meta.url)
const MAX_STDERR_LENGTH = 4_096

/** What a process said when it ended. */
export interface ProcessEnd {
  readonly isOutOfMemory: boolean
  /** Such as `SIGKILL`, or `exit code 1`. */
  readonly how: string
}

export interface ProcessListener {
  onMessage(message: ChildMessage): void
  /** Called once; nothing comes after it. */
  onEnd(end: ProcessEnd): void
}

/** One child process that reads documents: bounded in memory, without our secrets, and told to end by a kill only. */
export interface ReaderProcess {
  send(request: ChildRequest): void
  kill(): void
}

export function startReaderProcess(limits: ExtractionLimits, listener: ProcessListener): ReaderProcess {
  const child = fork(ENTRY, [String(limits.memoryMiB)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [`--max-old-space-size=${limits.heapMiB}`],
    env: environment(),
  })
  listen(child, listener)
  return {
    send: (request) => {
      // What can't be sent has no reader any more: its end is told by the process itself.
      if (child.connected) child.send(request, () => {})
    },
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}

function listen(child: ChildProcess, { onMessage, onEnd }: ProcessListener): void {
  let said = ''
  let hasEnded = false
  const end = (how: string) => {
    if (hasEnded) return
    hasEnded = true
    onEnd({ how, isOutOfMemory: said.includes('out of memory') })
  }
  child.stderr?.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString('latin1')).slice(-MAX_STDERR_LENGTH)
  })
  child.on('message', (raw) => {
    const message = childMessage.safeParse(raw)
    if (hasEnded) return
    if (message.success) onMessage(message.data)
    else child.kill('SIGKILL')
  })
  child.on('error', (error) => end(error.message))
  child.on('close', (code, signal) => end(signal ?? `exit code ${code}`))
}

/** Parsers of foreign documents need none of what belongs to us, and no flags that were meant for this process. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SHELFD_') && name !== 'NODE_OPTIONS')
  return { ...Object.fromEntries(kept), UV_THREADPOOL_SIZE: '1' }
}
