import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogFields, Logger } from '../../../src/foundation/logger.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine, type TestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { titlesIn } from '../../support/library-contents.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Every path that is known, with its content's digest, and whether it has arrived. */
function stateOf({ store }: TestEngine) {
  const [row] = store.mirrors.list()
  if (!row) return {}
  const files = store.directories
    .list(row.id)
    .flatMap(({ path }) => store.report.listFiles(row.id, path).map((file) => [join(path, file.name), file] as const))
  return Object.fromEntries(
    files.map(([path, { contentId }]) => {
      const content = store.contents.get(contentId)
      const sha256 = Buffer.from(content?.sha256 ?? []).toString('hex')
      return [path, `${sha256} ${content?.mime} ${content?.state}`]
    }),
  )
}

describe('include of a mirror', () => {
  test('only what it matches is mirrored, and secrets stay out', async () => {
    const { service, tested, mirror } = await startEngine(
      { 'a.txt': 'a', 'b.md': 'b', 'c/credentials.json': 'x', 'c/d.json': 'd', 'e/f.xml': 'f', '.git/g.txt': 'g' },
      { mirror: { include: ['*.txt', '*.json'] } },
    )
    const account = accountOf(await tested.sync([mirror]))
    expect(titlesIn(service)).toEqual(['a.txt', 'd.json'])
    expect(account).toMatchObject({ files: { scanned: 2, ignored: 4, secrets: 1 }, directories: { created: 2 } })
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(tested.store.directories.listPending(1)).toEqual(['e'])
  })

  test('a narrower include reads as left out, not as gone [P12]', async () => {
    const { tested, mirror } = await startEngine({ ...manyFiles(60, 60), 'a.txt': 'a' })
    await tested.sync([mirror])
    const { outcome, failure, summary } = await tested.sync([{ ...mirror, include: ['*.txt'] }])
    expect({ outcome, failure }).toEqual({ outcome: 'done', failure: undefined })
    expect(summary.mirrors[0]?.files).toMatchObject({ scanned: 1, removed: 60, leftOut: 60 })
    const { rows } = await tested.report([{ ...mirror, include: ['*.txt'] }])
    expect(new Set(rows.map(({ entry }) => entry.class))).toEqual(new Set(['in-sync', 'superseded', 'ignored']))
  })

  test('a wider include sends nothing twice [P4]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.txt': 'a', 'b/c.md': 'c', 'd.md': 'd' })
    await tested.sync([mirror])
    await tested.sync([{ ...mirror, include: ['*.txt'] }])
    const account = accountOf(await tested.sync([mirror]))
    expect(account.files).toMatchObject({ scanned: 3, unchanged: 1 })
    expect(service.count('uploadFile')).toBe(3)
    rmSync(join(mirror.path, 'd.md'))
    expect(accountOf(await tested.sync([mirror])).files.removed).toBe(1)
  })

  test('a pattern that matches nothing is named', async () => {
    const said: LogFields[] = []
    const logger: Logger = { ...silentLogger, warn: (_, fields) => void said.push(fields ?? {}) }
    const { tested, mirror } = await startEngine(
      { 'a.txt': 'a' },
      { mirror: { include: ['*.txt', 'reprots/**'] }, logger },
    )
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(said).toEqual([{ mirror: mirror.name, patterns: 'reprots/**' }])
  })

  test('runs with include and one without leave the state of one without [P13]', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/d-')}.md`)
    const tree = fc.dictionary(path, fc.constantFrom('1', '2', '3', '4'), { minKeys: 1, maxKeys: 8 })
    const pattern = fc.constantFrom('a.md', '/a/**', 'd-b/', '*.md', '/b/d-*/c.md', 'c*', '**/d-a.md')
    const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 })
    const service = await startFaultyService()
    let round = 0
    await fc.assert(
      fc.asyncProperty(tree, tree, fc.array(patterns, { maxLength: 2 }), async (before, after, includes) => {
        round += 1
        const states = []
        for (const runs of [[], includes]) {
          const directory = temporaryDirectory()
          await using tested = openTestEngine(service)
          const library = `${round}-${runs === includes ? 'some' : 'all'}`
          const mirror = mirrorOf(directory, { library, remotePath: '/x' })
          const syncOnly = (include: readonly string[]) =>
            tested.sync([{ ...mirror, include }], { acceptsRemovals: true })
          writeTree(directory, before)
          await syncOnly([])
          for (const [include, text] of runs.map((each, index) => [each, `${index}`] as const)) {
            writeTree(directory, { 'between.md': text })
            await syncOnly(include)
          }
          for (const old of Object.keys(before)) rmSync(join(directory, old))
          writeTree(directory, after)
          rmSync(join(directory, 'between.md'), { force: true })
          for (const include of runs) await syncOnly(include)
          expect((await syncOnly([])).outcome).toBe('done')
          states.push(stateOf(tested))
        }
        expect(states[1]).toEqual(states[0])
      }),
      { numRuns: 6 },
    )
  })
})
