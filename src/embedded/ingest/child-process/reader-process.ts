import { type ChildProcess, fork } from 'node:child_process'
import { threadEntry } from '../../../foundation/concurrency/thread-entry.ts'
import { systemCodeOf } from '../../../foundation/errors.ts'
import { childEnvironment } from '../../child-environment.ts'
import type { ExtractionLimits } from '../extraction-limits.ts'
import { type ChildMessage, type ChildRequest, childMessage } from './child-messages.ts'

const ENTRY = threadEntry('./child', import.meta.url)
const MAX_STDERR_LENGTH = 4_096

/** Bounds and tasks of a process that reads documents. */
export interface ReaderSetup {
  readonly limits: ExtractionLimits
  /** Recognizes text in pictures, at a low priority. */
  readonly recognizes: boolean
  readonly temporaryDir: string
}

/** The end of a process. */
export interface ProcessEnd {
  readonly isOutOfMemory: boolean
  /** Such as `SIGKILL`, or `exit code 1`. */
  readonly how: string
}

interface ProcessListener {
  onMessage(message: ChildMessage): void
  /** Called once, after the last message. */
  onEnd(end: ProcessEnd): void
}

export type ReaderProcess = ReturnType<typeof startReaderProcess>

/** Starts a child process that reads documents: its memory is bounded, it gets none of our secrets, and only SIGKILL ends it. */
export function startReaderProcess(setup: ReaderSetup, listener: ProcessListener) {
  const { limits, recognizes, temporaryDir } = setup
  const child = fork(ENTRY, [String(limits.memoryMiB), recognizes ? 'recognizer' : 'reader', temporaryDir], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--disable-sigusr1', `--max-old-space-size=${limits.heapMiB}`],
    env: { ...childEnvironment(), UV_THREADPOOL_SIZE: '1' },
    // The programs that it runs are of its group, and end with it.
    detached: process.platform !== 'win32',
  })
  listen(child, listener)
  return {
    send: (request: ChildRequest) => {
      // A message that cannot be sent is dropped: `onEnd` reports that the process has ended.
      if (child.connected) child.send(request, () => {})
    },
    kill: () => killAll(child),
  }
}

function listen(child: ChildProcess, { onMessage, onEnd }: ProcessListener): void {
  let stderr = ''
  let hasEnded = false
  const end = (how: string) => {
    if (hasEnded) return
    hasEnded = true
    onEnd({ how, isOutOfMemory: stderr.includes('out of memory') })
  }
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString('latin1')).slice(-MAX_STDERR_LENGTH)
  })
  child.on('message', (raw) => {
    const message = childMessage.safeParse(raw)
    if (hasEnded) return
    if (message.success) onMessage(message.data)
    else killAll(child)
  })
  child.on('exit', () => killAll(child))
  child.on('error', (error) => end(error.message))
  child.on('close', (code, signal) => end(signal ?? `exit code ${code}`))
}

/** Ends the process and the programs that it runs, also those that it left behind. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch (error) {
    // macOS answers EPERM for a group that has only ended processes.
    if (!['ESRCH', 'EPERM'].includes(systemCodeOf(error) ?? '')) throw error
  }
}
