/** Which ids in answers to uploads are receipts. */
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { accountOf, type EngineOptions, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const FILES = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.md`, `content ${n}`]))
const REPEATED = { mayRepeat: 'an answer that names the resource of another content is no receipt' }

/** No commit becomes due by time: one records all results, when the last upload has ended. */
const IN_ONE_BATCH: EngineOptions = {
  clock: { ...systemClock, startTimer: () => ({ refresh() {}, [Symbol.dispose]() {} }) },
  limits: { transfers: 10 },
}

/** Passes answers to uploads on once so many contents are stored, all with the id of one of these. */
function answerWithOneId(service: FaultyService, stored: number): void {
  const { promise: areStored, resolve } = Promise.withResolvers<void>()
  let id: string | undefined
  service.onResponse = async ({ route }) => {
    if (route !== 'uploadFile') return
    if (service.count('uploadFile') >= stored) resolve()
    await areStored
  }
  service.rewrite = ({ route }, body) => {
    if (route !== 'uploadFile') return body
    id ??= readLibrary(service.dataDir).at(-1)?.id
    return { ...body, id }
  }
}

describe('an id that stands for another content', () => {
  test.each([
    ['one after the other', 1, { limits: { transfers: 1 } }],
    ['in one batch', 10, IN_ONE_BATCH],
  ])(
    'contents that were all answered with one id are found under their own, %s [F-SV-15]',
    async (_, stored, options) => {
      const { service, tested, mirror } = await startEngine(FILES, { ...options, service: REPEATED })
      answerWithOneId(service, stored)
      await tested.sync([mirror])
      const named = new Map(readLibrary(service.dataDir).map(({ id, title }) => [title, id]))
      const { rows } = await tested.report([mirror])
      const believed = new Map(rows.map(({ entry }) => [entry.path, entry.resourceId]))
      expect(believed).toEqual(named)
      expect(named.size).toBe(10)
    },
  )

  test('contents that a service only claims to store under one id are named [F-SV-15]', async () => {
    const service = await startFaultyService(REPEATED)
    service.answer = ({ route }) => {
      if (route === 'uploadFile') return { status: 201, body: { id: 'the-only-one' } }
      if (route === 'showResource') return { status: 200, body: { id: 'the-only-one', ingestion_status: 'completed' } }
      return undefined
    }
    const mirror = mirrorOf(writeTree(temporaryDirectory(), FILES))
    const result = await openTestEngine(service, IN_ONE_BATCH).sync([mirror])
    expect(result.outcome).toBe('failures')
    expect(accountOf(result).uploads).toMatchObject({ created: 0, failed: 10 })
    expect(accountOf(result).problems.map(({ code }) => code)).toEqual(Array(10).fill('answer-malformed'))
  })
})
