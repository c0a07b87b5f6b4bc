import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { needs } from './needs.ts'

const PROGRAM = join(import.meta.dirname, 'fuse-mount.py')

/** A mounted file system whose server can stop to answer, as one of a network does whose server is away. */
export interface FuseMount {
  /** The requests that came since the last call. */
  takeRequests(): readonly string[]
  /** Resolves when a request of this name comes. */
  requested(name: string): Promise<void>
  /** From now on each call on it waits, until `thaw`. */
  freeze(): void
  thaw(): void
}

/** Mounts a file system with these files until the test is over; reading one whose text is null never ends. */
export async function mountFuse(at: string, files: Readonly<Record<string, string | null>>): Promise<FuseMount> {
  needs('mounts', 'fuse', 'python3', 'umount')
  mkdirSync(at, { recursive: true })
  const server = spawn('python3', [PROGRAM, at, JSON.stringify(files)], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    server.kill('SIGUSR2')
    execFileSync('umount', ['--lazy', at])
    server.kill('SIGKILL')
  })
  let requests: string[] = []
  const lines = createInterface({ input: server.stdout })
  await new Promise((resolve, reject) => lines.once('line', resolve).once('close', reject))
  lines.on('line', (line) => void requests.push(line))
  return {
    takeRequests: () => {
      const taken = requests
      requests = []
      return taken
    },
    requested: (name) =>
      new Promise((resolve) => {
        const look = (line: string) => {
          if (line !== name) return
          lines.off('line', look)
          resolve()
        }
        lines.on('line', look)
      }),
    freeze: () => void server.kill('SIGUSR1'),
    thaw: () => void server.kill('SIGUSR2'),
  }
}
