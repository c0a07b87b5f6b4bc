import { expect, it, onTestFinished } from 'vitest'
import { openOfflineEmbedder } from '../../../src/embedded/embedding/offline-embedder.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { manualClock } from '../../support/manual-clock.ts'

const CALLS = new URL('../../../src/foundation/concurrency/thread-calls.ts', import.meta.url)

/** Embeds a text by the number of its thread; ends or fails by the text "end" or "fail". */
const ENTRY = `
  import { threadId } from 'node:worker_threads'
  import { answerCalls } from '${CALLS}'
  answerCalls(({ text }) => {
    if (text === 'end') process.exit(1)
    if (text === 'fail') setImmediate(() => { throw new Error('out of memory') })
    return text === 'fail' ? new Promise(() => {}) : Float32Array.of(threadId)
  })`

function openThread() {
  const clock = manualClock()
  const errors: unknown[] = []
  const logger = { ...silentLogger, error: (_: string, details: unknown) => void errors.push(details) }
  const entry = new URL(`data:text/javascript,${encodeURIComponent(ENTRY)}`)
  const thread = openOfflineEmbedder({ clock, logger }, entry)
  onTestFinished(thread.stop)
  const embed = async (text: string) => {
    const [vector] = await thread.embed([text], 'document')
    return vector?.[0]
  }
  return { thread, clock, errors, embed }
}

it.each(['end', 'fail'])(
  'a thread that dies fails its text, and the next text starts another one: %s',
  async (text) => {
    const { embed, errors } = openThread()
    const first = await embed('one')
    await expect(embed(text)).rejects.toThrow('the thread of the offline embedder has ended')
    expect(errors).toEqual(text === 'fail' ? [{ error: 'out of memory' }] : [])
    const second = await embed('two')
    expect(second).not.toBe(first)
    expect(await embed('three')).toBe(second)
  },
)

it('a thread without texts for 30 seconds ends', async () => {
  const { clock, embed } = openThread()
  const first = await embed('one')
  await clock.advance(29_999)
  expect(await embed('two')).toBe(first)
  await clock.advance(30_000)
  expect(await embed('three')).not.toBe(first)
})

it('no text is embedded by a thread that was stopped', async () => {
  const { thread, embed } = openThread()
  await embed('one')
  await thread.stop()
  await expect(embed('two')).rejects.toThrow('the service is stopping')
})
