/**
 * The child process that extracts the text of documents, one after the other, in the order of the requests. Its arguments: its memory
 * limit in MiB, its role (`recognizer` also recognizes text in pictures), and a directory for temporary files. It answers only over the
 * channel to its parent, and ends when the parent ends.
 */
import { constants } from 'node:os'
import { join } from 'node:path'
import { lowerPriority } from '../../../foundation/concurrency/lower-priority.ts'
import { threadEntry } from '../../../foundation/concurrency/thread-entry.ts'
import { startThread } from '../../../foundation/concurrency/threads.ts'
import { isOutOfResources, messageOf } from '../../../foundation/errors.ts'
import { plainPath, streamContent } from '../../contents/content-file.ts'
import type { Passage } from '../../database/passages-table.ts'
import { type ExtractionEnd, type ExtractionSink, readBounded } from '../readers/extraction.ts'
import { openRecognizer } from '../readers/ocr.ts'
import { type ReadingTools, readDocument } from '../readers/read-document.ts'
import type { GuardData } from './child-guard.ts'
import type { ChildMessage, ChildRequest, DocumentRequest, PieceMessage } from './child-messages.ts'

// Ctrl+C signals the whole process group; the parent alone decides when this process stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const [, , memoryMiB, role, temporaryDir = ''] = process.argv
// The priority is lowered before any thread starts, because threads inherit it.
if (role === 'recognizer') lowerPriority(constants.priority.PRIORITY_LOW)
const tools: ReadingTools = {
  recognizer: role === 'recognizer' ? openRecognizer(join(temporaryDir, `languages-${process.pid}`)) : undefined,
  temporaryDir,
}
const data: GuardData = { parentPid: process.ppid, memoryMiB: Number(memoryMiB) }
startThread(threadEntry('./child-guard', import.meta.url), { data, name: 'guard' }).unref()

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
  await read(request, sender).then(
    (end) => sender.finish(end),
    (error) => sender.reportMachineFault(messageOf(error)),
  )
  senders.delete(request.id)
}

/** Reads a document, and returns how its extraction ended. Throws if the machine lacks memory or other resources. */
async function read({ content, ...document }: DocumentRequest, sender: PieceSender): Promise<ExtractionEnd> {
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
    if (isOutOfResources(error)) throw error
    return { status: 'failed', warnings: [], failure: messageOf(error) }
  }
}

function sendToParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message)
}

/** Returns whether a message is a request. No closer check is needed, since only the parent can write to the channel. */
function isRequest(raw: unknown): raw is ChildRequest {
  return typeof raw === 'object' && raw !== null && 'kind' in raw
}

const PIECE_CHARACTERS = 256 * 1024

/** The parent wants no more passages of the document. */
class DroppedError extends Error {}

/** Sends the passages of one document in pieces, and waits for the parent's answer to a piece before it sends the next one. */
class PieceSender implements ExtractionSink {
  readonly #id: number
  readonly #sendToParent: (piece: PieceMessage) => void
  #passages: Passage[] = []
  #characters = 0
  #isRestart = false
  #wait: PromiseWithResolvers<void> | undefined

  constructor(id: number, sendToParent: (piece: PieceMessage) => void) {
    this.#id = id
    this.#sendToParent = sendToParent
  }

  restart(): void {
    this.#passages = []
    this.#characters = 0
    this.#isRestart = true
  }

  emit(passage: Passage): void {
    this.#passages.push(passage)
    this.#characters += passage.text.length
  }

  async drain(): Promise<void> {
    if (this.#characters >= PIECE_CHARACTERS) await this.#sendAndWait(false)
  }

  async nextPart(): Promise<void> {
    await this.#sendAndWait(true)
  }

  /** Passes on the parent's answer to the last piece that was sent. */
  answer(kind: Exclude<ChildRequest['kind'], 'extract'>): void {
    if (kind === 'continue') this.#wait?.resolve()
    else this.#wait?.reject(new DroppedError())
  }

  finish(end: ExtractionEnd): void {
    this.#send({ end: { ...end, warnings: [...end.warnings] } })
  }

  reportMachineFault(machineFault: string): void {
    this.#send({ machineFault })
  }

  async #sendAndWait(isPart: boolean): Promise<void> {
    this.#wait = Promise.withResolvers()
    this.#send({ isPart })
    await this.#wait.promise
  }

  #send(more: Partial<Pick<PieceMessage, 'end' | 'isPart' | 'machineFault'>>): void {
    const piece = { isRestart: this.#isRestart, isPart: false, passages: this.#passages, ...more }
    this.#sendToParent({ kind: 'piece', id: this.#id, ...piece })
    this.#passages = []
    this.#characters = 0
    this.#isRestart = false
  }
}
