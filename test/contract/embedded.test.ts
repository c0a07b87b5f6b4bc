import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../support/needs.ts'
import { startTarget } from './embedded-target.ts'
import { SENTENCES } from './sentences/all.ts'
import { Examination } from './suite/examination.ts'
import { NotObserved } from './suite/sentence.ts'

describe('the contract, kept by the embedded library', () => {
  let examination: Examination
  beforeAll(async () => {
    const { target, stop } = await startTarget()
    examination = new Examination(target)
    return stop
  })

  for (const { section, says, assertions } of SENTENCES) {
    describe.runIf(assertions.length > 0)(`${section} ${says}`, () => {
      it.each(assertions)('$title', async ({ check }) => {
        try {
          await check(examination)
        } catch (error) {
          // Pictures of videos are taken by these programs.
          if (error instanceof NotObserved) needs('ffmpeg', 'ffprobe')
          throw error
        }
      })
    })
  }

  afterAll(async () => {
    expect(await examination.cleanUp(), 'what the suite leaves behind').toEqual([])
    expect((await examination.client().get('/libraries')).json.items).toEqual([])
  })
})
