/** Entry of a mount's thread, which makes calls on the file system. Any of them may never return. */
import { spawn } from 'node:child_process'
import nodeFs from 'node:fs'
import { serveThread, threadData } from '../../foundation/concurrency/threads.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { CallResult, MountCall, MountThreadData } from './shared-mount.ts'

const { port, answers }: MountThreadData = threadData

serveThread(async (call: MountCall) => {
  port.postMessage({ id: call.id, ...(call.name === 'ask' ? await ask(String(call.args[0])) : answer(call)) })
  Atomics.add(answers, 0, 1)
  Atomics.notify(answers, 0)
})

function answer({ name, args }: MountCall): CallResult<unknown> {
  if (name === 'ask') throw new Error('A question is no call')
  try {
    return { value: name === 'readSync' ? read(args) : Reflect.apply(nodeFs[name], nodeFs, args) }
  } catch (error) {
    return { error: Object.assign({ message: messageOf(error) }, error) }
  }
}

/** Returns the bytes in an array of its own, because the caller's buffer is in another thread. */
function read([descriptor, length, position]: MountCall['args']): Uint8Array {
  const bytes = new Uint8Array(Number(length))
  return bytes.subarray(0, nodeFs.readSync(Number(descriptor), bytes, 0, bytes.length, Number(position)))
}

/** A program that calls statfs, because the kernel answers other calls from its cache. It ends after the answer, or with its parent. */
const ASK = `
  const end = () => process.kill(process.pid, 'SIGKILL')
  process.stdin.on('end', end).resume()
  require('node:fs').statfs(process.argv[1], end)`

/**
 * Asks a mount by a process of its own, because nothing ends a call to a FUSE program that hangs, and a process cannot end before its
 * threads. The mount has answered when the process has ended.
 */
function ask(path: string): Promise<CallResult<unknown>> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['-e', ASK, path], { stdio: ['pipe', 'ignore', 'ignore'], env: {} })
    child.once('exit', () => resolve({ value: undefined }))
    child.once('error', (error) => resolve({ error: { message: error.message } }))
  })
}
