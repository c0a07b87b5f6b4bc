import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Where the null service is, and what it has been asked. */
export interface NullService extends Disposable {
  readonly url: string
  /** Requests since its start. */
  countRequests(): Promise<number>
  /** Returns when the upload of each file name began, in milliseconds since 1970; forgets them. */
  takeBegun(): Promise<Readonly<Record<string, number>>>
}

const counted = z.object({ requests: z.int() })
const begun = z.record(z.string(), z.number())
/** The argument of the process. */
const LISTS_UPLOADS = '--lists-uploads'
const CHILD = fileURLToPath(new URL('./children/null-service.ts', import.meta.url))

/**
 * Starts the null service on loopback in a process of its own, so that its work is not counted as ours. It lists the uploads that it took
 * only if it `listsUploads`: a new state would compare them with its files before it sends any.
 */
export async function startNullService({ listsUploads = false } = {}): Promise<NullService> {
  const child = fork(CHILD, listsUploads ? [LISTS_UPLOADS] : [])
  child.on('exit', (code, signal) => {
    if (!child.killed) process.stderr.write(`The null service ended by itself (${signal ?? code})\n`)
  })
  const [address] = await once(child, 'message')
  const url = `http://127.0.0.1:${address.port}`
  return {
    url,
    countRequests: async () => counted.parse(await (await fetch(`${url}/requests`)).json()).requests,
    takeBegun: async () => begun.parse(await (await fetch(`${url}/begun`)).json()),
    [Symbol.dispose]: () => void child.kill(),
  }
}
