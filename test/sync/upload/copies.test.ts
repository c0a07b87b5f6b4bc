import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountOf, startEngine } from '../../support/engine.ts'
import { readLibrary } from '../../support/library-contents.ts'

test('a file that vanishes before it is sent is named', async () => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'a', 'b.md': 'b' }, { limits: { transfers: 1 } })
  service.onUploadBegun = () => rmSync(join(mirror.path, 'b.md'), { force: true })
  const result = await tested.sync([mirror])
  expect(accountOf(result)).toMatchObject({
    problems: [{ path: 'b.md', code: 'vanished' }],
    uploads: { created: 1, waiting: 1 },
  })
})

test('a copy whose directory cannot be created is sent nowhere', async () => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'same', 'b/copy.md': 'same' })
  const refused = { status: 422, body: { message: 'no such name' } }
  service.answer = ({ route, body }) =>
    route === 'createDirectory' && JSON.parse(String(body)).path === `${mirror.remotePath}/b` ? refused : undefined
  for (const run of ['first', 'second']) {
    const result = await tested.sync([mirror])
    expect({ run, outcome: result.outcome }).toEqual({ run, outcome: 'failures' })
    expect(accountOf(result).problems).toMatchObject([{ path: 'b', code: 'invalid' }])
  }
  service.answer = () => undefined
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(service.requests.filter(({ fileName }) => fileName === 'copy.md')).toEqual([])
  expect(readLibrary(service.dataDir).map(({ places }) => places.length)).toEqual([1])
})
