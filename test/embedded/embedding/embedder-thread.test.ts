import { expect, it, onTestFinished } from 'vitest'
import { openEmbedderThread } from '../../../src/embedded/embedding/embedder-thread.ts'
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
  const thread = openEmbedderThread({
    entry: new URL(`data:text/javascript,${encodeURIComponent(ENTRY)}`),
    owner: 'the tested embedder',
    clock,
    logger: { ...silentLogger, error: (_, details) => void errors.push(details) },
  })
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
    await expect(embed(text)).rejects.toThrow('the thread of the tested embedder has ended')
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

it('a reload takes effect after the text under way, and loses none', async () => {
  const { thread, embed } = openThread()
  const before = [embed('one'), embed('two')]
  const reloaded = thread.reload()
  const [first, second] = await Promise.all(before)
  await reloaded
  expect(second).not.toBe(first)
  expect(await embed('three')).toBe(second)
})

it('no text is embedded by a thread that was stopped', async () => {
  const { thread, embed } = openThread()
  await embed('one')
  await thread.stop()
  await expect(embed('two')).rejects.toThrow('the service is stopping')
})
