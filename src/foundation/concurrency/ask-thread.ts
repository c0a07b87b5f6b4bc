import type { Worker } from 'node:worker_threads'

interface Question<Answer> {
  /** Returns the answer in a message; undefined for a message that answers another question. Throws what failed in the thread. */
  read(message: unknown): { readonly answer: Answer } | undefined
  /** The error when the thread ends, or fails with `error`, before it has answered. */
  ended(error?: Error): Error
}

/** Posts `message` to a thread and resolves with its answer; the thread keeps the process alive only meanwhile. */
export async function askThread<Answer>(worker: Worker, message: unknown, question: Question<Answer>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const onMessage = (raw: unknown) => {
    try {
      const read = question.read(raw)
      if (read) resolve(read.answer)
    } catch (error) {
      reject(error)
    }
  }
  const onError = (error: Error) => reject(question.ended(error))
  const onExit = () => reject(question.ended())
  worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  worker.ref()
  worker.postMessage(message)
  try {
    return await promise
  } finally {
    worker.unref()
    worker.off('message', onMessage).off('error', onError).off('exit', onExit)
  }
}
