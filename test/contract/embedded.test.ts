import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTarget } from './embedded-target.ts'
import { SENTENCES } from './sentences/all.ts'
import { Examination } from './suite/examination.ts'

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
        await check(examination)
      })
    })
  }

  afterAll(async () => {
    expect(await examination.cleanUp(), 'what the suite leaves behind').toEqual([])
    expect((await examination.client().get('/libraries')).json.items).toEqual([])
  })
})
