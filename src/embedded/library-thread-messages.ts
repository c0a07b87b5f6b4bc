import { z } from 'zod'

/** What the thread is started with. */
export const workerOptions = z.object({
  dataDir: z.string(),
  embedder: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.enum(['none', 'offline']) }),
      z.object({ kind: z.literal('folder'), folder: z.string() }),
      z.object({ kind: z.literal('endpoint'), url: z.string(), model: z.string(), key: z.string().optional() }),
    ])
    .optional(),
  embedsDocuments: z.boolean().optional(),
})
export type WorkerOptions = z.infer<typeof workerOptions>

/** A request of the caller's thread. */
export const workerRequest = z.object({ call: z.int(), name: z.enum(['settled', 'stop']) })

const startedMessage = z.object({
  kind: z.literal('started'),
  library: z.object({
    url: z.string(),
    token: z.string(),
    tokenFile: z.string(),
    documentationUrl: z.string(),
    instanceId: z.string(),
  }),
})

const startFailure = z.object({ kind: z.literal('failed'), code: z.string().optional(), message: z.string() })

const callEnded = z.object({ kind: z.literal('ended'), call: z.int(), error: z.string().optional() })

/** A message of the worker: the result of its start once, then the end of each call. */
export const workerMessage = z.discriminatedUnion('kind', [startedMessage, startFailure, callEnded])

export type WorkerRequest = z.infer<typeof workerRequest>
export type StartedMessage = z.infer<typeof startedMessage>
export type WorkerMessage = z.infer<typeof workerMessage>
