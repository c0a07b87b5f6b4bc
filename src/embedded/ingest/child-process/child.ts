/**
 * The child process that extracts the text of documents, one after the other, in the order of the requests. Its arguments are its
 * memory limit (MiB), whether it recognizes text in pictures, and a directory for temporary files. It answers over the channel to its parent only, and ends when its parent ends.
 */
import { constants } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { lowerPriority } from '../../../foundation/concurrency/lower-priority.ts'
import { threadEntry } from '../../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../../foundation/errors.ts'
import { plainPath, streamContent } from '../../contents/content-file.ts'
import { type ExtractionEnd, readBounded } from '../extract/extraction.ts'
import { type ReadingTools, readDocument } from '../extract/read-document.ts'
import { openRecognizer } from '../extract/recognize/recognizer.ts'
import type { GuardData } from './child-guard.ts'
import type { ChildMessage, ChildRequest, DocumentRequest } from './child-messages.ts'
import { PieceSender } from './piece-sender.ts'

// Ctrl+C signals the whole process group; the parent alone decides when this process stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const [, , memoryMiB, role, temporaryDir = ''] = process.argv
// Threads inherit the priority from the one that starts them.
if (role === 'recognizer') lowerPriority(constants.priority.PRIORITY_LOW)
const tools: ReadingTools = {
  recognizer: role === 'recognizer' ? openRecognizer(join(temporaryDir, `languages-${process.pid}`)) : undefined,
  temporaryDir,
}
const workerData: GuardData = { parentPid: process.ppid, memoryMiB: Number(memoryMiB) }
new Worker(threadEntry('./child-guard', import.meta.url), { workerData, name: 'guard' }).unref()

const senders = new Map<number, PieceSender>()
let previous: Promise<void> = Promise.resolve()
process.on('message', (raw: unknown) => {
  if (isRequest(raw)) accept(raw)
})
sendToParent({ kind: 'ready' })

function accept(request: ChildRequest): void {
  if (request.kind === 'extract') previous = previous.then(() => extract(request))
  else senders.get(request.id)?.answer(request.kind)
}

async function extract(request: DocumentRequest): Promise<void> {
  const sender = new PieceSender(request.id, sendToParent)
  senders.set(request.id, sender)
  sender.finish(await endOf(request, sender))
  senders.delete(request.id)
}

async function endOf({ content, ...document }: DocumentRequest, sender: PieceSender): Promise<ExtractionEnd> {
  const path = typeof content === 'string' ? plainPath(content) : undefined
  const chunks = () =>
    typeof content === 'string'
      ? streamContent(content)
      : [Buffer.from(content.buffer, content.byteOffset, content.byteLength)]
  try {
    return await readBounded(sender, document.maxPassages, (sink) =>
      readDocument({ ...document, path, chunks }, sink, tools),
    )
  } catch (error) {
    return { status: 'failed', warnings: [], failure: messageOf(error) }
  }
}

function sendToParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message)
}

/** Only the parent can write to the channel. */
function isRequest(raw: unknown): raw is ChildRequest {
  return typeof raw === 'object' && raw !== null && 'kind' in raw
}
