import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { openSearch, SEARCH_THREADS } from '../../../src/embedded/search/open-search.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startLibrary } from '../temporary-library.ts'

const REQUEST = { query: 'heron', limit: 10, passages: 1 }

it('a search sees what was ingested a moment ago', async () => {
  const { client, library } = await startLibrary()
  const id = await client.createLibrary()
  for (const word of ['heron', 'stork', 'crane']) {
    const resource = await client.uploaded(id, { name: 'a.txt', content: word })
    await library.settled()
    const { json } = await client.get(`/search/resources?query=${word}`)
    expect(json.results).toEqual([{ resource: expect.objectContaining({ id: resource }) }])
  }
})

it('a detailed hit shows what matched, a compact one does not', async () => {
  const { client } = await startLibrary()
  const id = await client.createLibrary()
  await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: 'Two herons.' }))
  const { json } = await client.get('/search/resources?query=heron&strategy=lexical')
  expect(json).toEqual({
    notice: 'Candidates, not verified answers: check excerpts against the source.',
    results: [
      {
        resource: expect.objectContaining({
          assets: [expect.objectContaining({ text: 'Two herons.', excerpt: 'Two **herons**.' })],
        }),
      },
    ],
  })
})

it('the notice names the word searched for in place of an unknown one', async () => {
  const { client } = await startLibrary()
  const id = await client.createLibrary()
  await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: 'cormorant' }))
  const { json } = await client.get('/search/resources?query=cormorrant')
  expect(json.notice).toContain('No resource has "cormorrant"; searched for "cormorant".')
})

it('the search thread reads the texts that an answer shows', async () => {
  const { dataDir, client } = await startLibrary()
  const id = await client.createLibrary()
  const text = Array.from({ length: 3_000 }, (_, number) => `The stork ${number} waits.`).join('\n')
  await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: `${text}\nA heron.` }))
  const search = openSearch(join(dataDir, 'library.sqlite'), { clock: systemClock, logger: silentLogger })
  const { hits } = await search.find(REQUEST, 1)
  await search.stop()
  expect(hits[0]?.first?.text).toMatch(/^The stork 0/)
  expect(hits[0]?.passages.map(({ passage }) => passage.text)).toEqual([expect.stringMatching(/A heron\.$/)])
})

it('a search that takes too long is ended, and the next one answered', async () => {
  const { dataDir, client } = await startLibrary()
  const id = await client.createLibrary()
  await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: 'heron' }))
  const clock = manualClock()
  const search = openSearch(join(dataDir, 'library.sqlite'), { clock, logger: silentLogger })
  const slow = expect(search.find(REQUEST, 1)).rejects.toMatchObject({
    status: 503,
    message: 'The search took too long',
  })
  // The time is over before the thread has started.
  await clock.advance(10_000)
  await slow
  expect((await search.find(REQUEST, 1)).hits).toHaveLength(1)
  await search.stop()
})

it('searches at the same time have a thread each, and all but one end when none came for a while', async () => {
  const { dataDir } = await startLibrary()
  const started: Worker[] = []
  const onWorker = (worker: Worker) => void started.push(worker)
  process.on('worker', onWorker)
  onTestFinished(() => void process.off('worker', onWorker))
  const running = () => started.filter(({ threadId }) => threadId !== -1).length
  const clock = manualClock()
  const search = openSearch(join(dataDir, 'library.sqlite'), { clock, logger: silentLogger })
  for (let round = 0; round < 2; round += 1) await Promise.all(Array.from({ length: 8 }, () => search.find(REQUEST, 1)))
  expect([started.length, running()]).toEqual([SEARCH_THREADS, SEARCH_THREADS])
  await clock.advance(10_000)
  await expect.poll(running).toBe(1)
  await search.find(REQUEST, 1)
  expect([started.length, running()]).toEqual([SEARCH_THREADS, 1])
  await search.stop()
  expect(running()).toBe(0)
})

it('searches beyond the length of the queue are refused', async () => {
  const { dataDir } = await startLibrary()
  // No search takes too long, however busy the machine is.
  const search = openSearch(join(dataDir, 'library.sqlite'), { clock: manualClock(), logger: silentLogger })
  const answers = await Promise.allSettled(Array.from({ length: 300 }, () => search.find(REQUEST, 1)))
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused).toHaveLength(300 - 256 - SEARCH_THREADS)
  expect(refused[0]?.reason).toMatchObject({ status: 503, message: 'Too many searches are waiting' })
  await search.stop()
  await expect(search.find(REQUEST, 1)).rejects.toMatchObject({ status: 503 })
})

it('a search that cannot read the database does not stop the service', async () => {
  const { client, dataDir } = await startLibrary()
  const search = openSearch(join(dataDir, 'no such directory', 'library.sqlite'), {
    clock: systemClock,
    logger: silentLogger,
  })
  await expect(search.find(REQUEST, 1)).rejects.toThrow('Cannot open database')
  expect((await client.get('/libraries')).status).toBe(200)
  await search.stop()
})
