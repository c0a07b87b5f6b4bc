import { parentPort, type Worker } from 'node:worker_threads'
import { messageOf, RequestError, rebuildError, systemCodeOf } from '../errors.ts'
import { hasEnded, isAskedToEnd, serveThread } from './threads.ts'

interface Call<Input> {
  readonly call: number
  readonly input: Input
}

type Reply<Result> =
  | { readonly call: number; readonly result: Result }
  | { readonly call: number; readonly code: string; readonly message: string; readonly status: number | undefined }

/** The thread ended before its answer. `cause` is the error that ended it, if any. */
export class ThreadEndedError extends Error {}

/** Serves a thread by answering its calls. Calls that are open when the thread ends get no answer. */
export function answerCalls<Input, Result>(
  handle: (input: Input) => Result | Promise<Result>,
  stop?: () => void | Promise<void>,
): void {
  serveThread(async (call: Call<Input>) => {
    if (!isAskedToEnd()) parentPort?.postMessage(await replyTo(call, handle))
  }, stop)
}

async function replyTo<Input, Result>(
  { call, input }: Call<Input>,
  handle: (input: Input) => Result | Promise<Result>,
): Promise<Reply<Result>> {
  try {
    return { call, result: await handle(input) }
  } catch (error) {
    const status = error instanceof RequestError ? error.status : undefined
    return { call, code: systemCodeOf(error) ?? '', message: messageOf(error), status }
  }
}

let lastCall = 0
/** The number of each thread's open calls; a thread keeps the process alive only while it has some. */
const openCalls = new WeakMap<Worker, number>()

/** Returns the thread's answer to a call. Throws the handler's error, rebuilt from code and message, or ThreadEndedError. */
export async function callThread<Input, Result>(worker: Worker, input: Input): Promise<Result> {
  if (hasEnded(worker)) throw new ThreadEndedError('The thread has ended')
  lastCall += 1
  const call = lastCall
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const onMessage = (reply: Reply<Result>) => {
    if (reply.call !== call) return
    if ('result' in reply) resolve(reply.result)
    else reject(rebuildError(reply.code, reply.message, reply.status))
  }
  const onEnd = (cause: unknown) => {
    reject(new ThreadEndedError('The thread has ended', cause instanceof Error ? { cause } : {}))
  }
  worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd)
  keepAlive(worker, 1)
  worker.postMessage({ call, input } satisfies Call<Input>)
  try {
    return await promise
  } finally {
    keepAlive(worker, -1)
    worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd)
  }
}

function keepAlive(worker: Worker, change: 1 | -1): void {
  const open = (openCalls.get(worker) ?? 0) + change
  openCalls.set(worker, open)
  if (open > 0) worker.ref()
  else worker.unref()
}
