import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { endWithUs } from './end-with-us.ts'

/** A library in a process of its own, so that nothing of it is counted as the daemon's. */
export interface Library extends AsyncDisposable {
  readonly url: string
  readonly tokenFile: string
  readonly dataDir: string
}

const announcement = z.object({ url: z.string(), tokenFile: z.string() })

/** Runs `shelfd serve` of a program and waits until it listens. */
export async function serveLibrary(program: string, dataDir: string): Promise<Library> {
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', dataDir, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ending = endWithUs(child)
  const announced = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  const { url, tokenFile } = announcement.parse(JSON.parse(String(announced[0])))
  return { url, tokenFile, dataDir, [Symbol.asyncDispose]: () => ending[Symbol.asyncDispose]() }
}
