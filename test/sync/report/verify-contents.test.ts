import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mirrorOf, openTestEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { manyFiles, type Tree, temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Sends a tree through a faulty service; `downloads` then answers for the file of each resource. */
async function mirrored(service: FaultyService, tree: Tree) {
  const root = writeTree(temporaryDirectory(), tree)
  const mirror = mirrorOf(root)
  const tested = openTestEngine(service)
  const names = new Map<string, string>()
  service.rewrite = ({ route, fileName }, body) => {
    if (route === 'uploadFile') names.set(String(body.id), String(fileName))
    return body
  }
  await tested.sync([mirror])
  const downloads = (answer: (name: string) => ReturnType<FaultyService['answer']>) => {
    service.answer = ({ route, path }) =>
      route === 'downloadResource' ? answer(names.get(path.split('/').at(-1) ?? '') ?? '') : undefined
  }
  return { root, mirror, tested, downloads }
}

const text = (body: string) => ({ status: 200, body, headers: { 'content-type': 'text/markdown' } })

describe('report --verify', () => {
  test('downloaded bytes that differ or are gone are named', async () => {
    await using service = await startFaultyService()
    const { mirror, tested, downloads } = await mirrored(service, {
      'same.md': 'same',
      'other.md': 'other',
      'short.md': 'short',
      'copy.md': 'other',
      'gone.md': 'gone',
    })
    downloads((name) => {
      if (name === 'other.md' || name === 'copy.md') return text('OTHER')
      if (name === 'short.md') return text('sho')
      return name === 'gone.md' ? { status: 404, body: { message: 'no such resource' } } : undefined
    })
    const { rows, verification } = await tested.report([mirror], { verifies: true })
    expect(rows.map(({ entry }) => [entry.path, entry.class, entry.reason])).toEqual([
      ['copy.md', 'needs-attention', 'the service returns other bytes than were sent'],
      ['gone.md', 'missing-remotely', 'the service no longer returns its bytes'],
      ['other.md', 'needs-attention', 'the service returns other bytes than were sent'],
      ['same.md', 'in-sync', null],
      ['short.md', 'needs-attention', 'the service returns other bytes than were sent'],
    ])
    expect(verification).toMatchObject({ contents: 4, bytes: 18, faults: { length: 3 } })
  })

  test('earlier versions are downloaded and compared as well', async () => {
    await using service = await startFaultyService()
    const { root, mirror, tested, downloads } = await mirrored(service, { 'a.md': 'first', 'b.md': 'second' })
    writeFileSync(join(root, 'a.md'), 'changed since')
    await tested.sync([mirror])
    rmSync(join(root, 'b.md'))
    downloads((name) => (name === 'a.md' || name === 'b.md' ? text('no such text') : undefined))
    const { rows, verification } = await tested.report([mirror], { verifies: true })
    expect(verification?.contents).toBe(3)
    const other = 'the service returns other bytes than were sent'
    expect(rows.map(({ entry }) => [entry.path, entry.class, entry.reason])).toEqual([
      ['a.md', 'needs-attention', other],
      ['b.md', 'needs-attention', `${other}; gone: its file is no longer there; still searchable`],
      ['a.md', 'needs-attention', `${other}; replaced by a newer version of its file; still searchable`],
    ])
  })

  test('a fault of a content without a row gets a row', async () => {
    await using service = await startFaultyService()
    const { root, mirror, tested, downloads } = await mirrored(service, { 'a.md': 'the same text' })
    const other = mirrorOf(writeTree(temporaryDirectory(), { 'copy.md': 'the same text' }))
    await tested.sync([other])
    rmSync(join(root, 'a.md'))
    downloads(() => text('THE SAME TEXT'))
    const { rows } = await tested.report([mirror], { verifies: true })
    expect(rows.map(({ entry }) => [entry.path, entry.class])).toEqual([['a.md', 'needs-attention']])
  })

  test('a page in place of the bytes is not taken for them', async () => {
    await using service = await startFaultyService()
    const { mirror, tested, downloads } = await mirrored(service, { 'a.md': 'one', 'b.md': 'two' })
    const page = { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }
    downloads((name) => (name === 'a.md' ? page : undefined))
    const { rows } = await tested.report([mirror], { verifies: true })
    expect(rows.map(({ entry }) => [entry.path, entry.class])).toEqual([
      ['a.md', 'unknown'],
      ['b.md', 'in-sync'],
    ])
    expect(rows[0]?.entry.reason).toMatch(/could not be compared: .*login page/)
  })

  test('broken downloads are tried again, a few at a time', async () => {
    await using service = await startFaultyService()
    const { mirror, tested } = await mirrored(service, manyFiles(40, 40))
    let inFlight = 0
    let most = 0
    service.fault = ({ route, attempt }) => {
      if (route !== 'downloadResource') return undefined
      inFlight += 1
      most = Math.max(most, inFlight)
      return attempt === 1 ? 'reset-after' : undefined
    }
    service.onResponse = ({ route }) => {
      if (route === 'downloadResource') inFlight -= 1
    }
    const { verification } = await tested.report([mirror], { verifies: true })
    expect(verification).toMatchObject({ contents: 40, faults: [] })
    expect(most).toBeLessThanOrEqual(4)
  })
})
