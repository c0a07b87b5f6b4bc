import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { needs } from './needs.ts'
import { temporaryDirectory } from './temporary.ts'

const PROGRAM = join(import.meta.dirname, 'notify-socket.py')
const PATIENCE_MS = 30_000

/** What stands where systemd would listen. */
export interface NotifySocket {
  /** For NOTIFY_SOCKET. */
  readonly path: string
  /** Everything received so far. */
  readonly messages: readonly string[]
  /** Resolves when what was received satisfies `holds`. */
  until(holds: (messages: readonly string[]) => boolean): Promise<readonly string[]>
}

/** Listens as the service manager does, until the test is over. */
export async function listenForNotifications(): Promise<NotifySocket> {
  needs('python3')
  const path = join(temporaryDirectory(), 'notify')
  const child = spawn('python3', [PROGRAM, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const messages: string[] = []
  const waiting = new Set<() => void>()
  const lines = createInterface({ input: child.stdout })
  await new Promise((resolve, reject) => lines.once('line', resolve).once('close', reject))
  lines.on('line', (line) => {
    messages.push(JSON.parse(line))
    for (const look of waiting) look()
  })
  return {
    path,
    messages,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const giveUp = () => reject(new Error(`Still waiting; received ${JSON.stringify(messages)}`))
        const timer = setTimeout(giveUp, PATIENCE_MS)
        const look = () => {
          if (!holds(messages)) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve([...messages])
        }
        waiting.add(look)
        look()
      }),
  }
}
