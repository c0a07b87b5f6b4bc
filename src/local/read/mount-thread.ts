/** Entry of the thread of a mount: makes calls of the file system one after the other, each of which may never return. */
import nodeFs from 'node:fs'
import { workerData } from 'node:worker_threads'
import { messageOf } from '../../foundation/errors.ts'
import type { CallResult, MountCall, MountThreadData } from './shared-mount.ts'

const { port, answers }: MountThreadData = workerData

port.on('message', (call: MountCall) => {
  port.postMessage({ id: call.id, ...answer(call) })
  Atomics.add(answers, 0, 1)
  Atomics.notify(answers, 0)
})

function answer({ name, args }: MountCall): CallResult<unknown> {
  try {
    return { value: name === 'readSync' ? read(args) : Reflect.apply(nodeFs[name], nodeFs, args) }
  } catch (error) {
    return { error: Object.assign({ message: messageOf(error) }, error) }
  }
}

/** Returns the bytes, since the caller's buffer is in another thread. */
function read([descriptor, length, position]: MountCall['args']): Uint8Array {
  const bytes = new Uint8Array(Number(length))
  return bytes.subarray(0, nodeFs.readSync(Number(descriptor), bytes, 0, bytes.length, Number(position)))
}
