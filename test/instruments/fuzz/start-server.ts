import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const ready = z.object({ kind: z.literal('ready'), url: z.string(), token: z.string() })
const settled = z.object({ kind: z.literal('settled'), longestBusyMs: z.number() })

const SERVERS = {
  library: import.meta.resolve('./library-process.ts'),
  bare: import.meta.resolve('./bare-process.ts'),
} as const

export interface StartedServer extends AsyncDisposable {
  readonly url: string
  readonly token: string
  readonly pid: number
  /** Resolves when the library has nothing left to ingest. */
  settled(): Promise<void>
  /** The longest time until the last `settled` that the library computed without answering anyone. */
  longestBusyMs(): number
}

/** Starts a server in a process of its own. */
export async function startServer(name: keyof typeof SERVERS, ...args: readonly string[]): Promise<StartedServer> {
  const child = fork(fileURLToPath(SERVERS[name]), [...args])
  const [message] = await once(child, 'message')
  const { url, token } = ready.parse(message)
  let longestBusyMs = 0
  return {
    ...{ url, token, pid: child.pid ?? 0 },
    settled: async () => {
      child.send('settle')
      const [message] = await once(child, 'message')
      longestBusyMs = settled.parse(message).longestBusyMs
    },
    longestBusyMs: () => longestBusyMs,
    [Symbol.asyncDispose]: () => stop(child),
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.disconnect()
  await once(child, 'exit')
}
