import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine } from '../support/engine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

test('a content that another mirror is sending is sent once', async () => {
  await using service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  await using tested = openTestEngine(service)
  const root = temporaryDirectory()
  const one = mirrorOf(writeTree(join(root, 'one'), { 'a.md': 'shared' }))
  const two = mirrorOf(writeTree(join(root, 'two'), { 'b.md': 'shared' }))
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  service.onUploadBegun = () => {
    begun.resolve()
    return goOn.promise
  }
  const first = tested.sync([one])
  await begun.promise
  const second = await tested.sync([two])
  expect(second.outcome).toBe('done')
  expect(accountOf(second).uploads).toMatchObject({ created: 0, inDoubt: 0 })
  goOn.resolve()
  expect((await first).outcome).toBe('done')
  expect(accountOf(await tested.sync([two])).files).toMatchObject({ unchanged: 1 })
  expect(service.count('uploadFile')).toBe(1)
})
