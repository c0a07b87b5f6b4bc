import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Asks a child to end when this is disposed of, and waits for it; kills it when this process ends before. */
export function endWithUs(child: ChildProcess): AsyncDisposable {
  const kill = () => void child.kill('SIGKILL')
  // The child must end before the workspace, to which it writes, is removed.
  process.prependOnceListener('exit', kill)
  return {
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      process.off('exit', kill)
    },
  }
}
