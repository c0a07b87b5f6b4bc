import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine, startEngine, type TestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { titlesIn } from '../../support/library-contents.ts'
import { manyFiles, type Tree, temporaryDirectory, writeTree } from '../../support/temporary.ts'

const TREE = { 'in/a.md': 'a', 'in/deep/b.md': 'b', 'out/c.md': 'c', 'd.md': 'd' }

function below(directory: string, tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).map(([path, content]) => [`${directory}/${path}`, content]))
}

/** Every path that is known, with its content's digest, whether it has arrived, and what was of it before. */
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

describe('a run over a part of a mirror', () => {
  test('only the files of the part are sent, and directories that hold them', async () => {
    const { service, tested, mirror } = await startEngine(TREE)
    const { outcome, summary } = await tested.sync([mirror], { part: ['in/**'] })
    expect(outcome).toBe('done')
    expect(summary).toMatchObject({ include: ['in/**'], unmatched: [] })
    expect(summary.mirrors[0]).toMatchObject({
      files: { scanned: 2, new: 2, ignored: 0, removed: 0 },
      uploads: { created: 2 },
      directories: { created: 3 },
    })
    expect(titlesIn(service)).toEqual(['a.md', 'b.md'])
    const next = accountOf(await tested.sync([mirror]))
    expect(next).toMatchObject({ files: { scanned: 4, new: 2, unchanged: 2 }, uploads: { created: 2 } })
    expect(service.count('uploadFile')).toBe(4)
  })

  test('what lies outside is neither gone nor ignored [P12]', async () => {
    const { tested, mirror } = await startEngine({ ...manyFiles(60, 60), 'in/a.md': 'a' })
    await tested.sync([mirror])
    const { outcome, failure, summary } = await tested.sync([mirror], { part: ['in/'] })
    expect({ outcome, failure }).toEqual({ outcome: 'done', failure: undefined })
    expect(summary.mirrors[0]?.files).toMatchObject({ scanned: 1, unchanged: 1, removed: 0, leftOut: 0, ignored: 0 })
    expect(tested.store.files.count(1)).toBe(61)
  })

  test('a file of the part that is gone stays until a complete scan [P11]', async () => {
    const { tested, mirror } = await startEngine(TREE)
    await tested.sync([mirror])
    rmSync(join(mirror.path, 'in/a.md'))
    expect(accountOf(await tested.sync([mirror], { part: ['in/**'] })).files).toMatchObject({ removed: 0, scanned: 1 })
    expect(tested.store.files.count(1)).toBe(4)
    expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ removed: 1, scanned: 3 })
  })

  test('a complete scan finds what went from beside the files of a part [P13]', async () => {
    const { tested, mirror } = await startEngine({ 'x.md': 'x', 'y.txt': 'y' })
    await tested.sync([mirror])
    await tested.sync([mirror], { part: ['*.md'], hashEverything: true })
    rmSync(join(mirror.path, 'y.txt'))
    await tested.sync([mirror], { part: ['*.md'] })
    expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ removed: 1, unchanged: 1 })
  })

  test.each([
    ['from inside to outside', 'in/a.md', 'out/a.md', 0],
    ['from outside to inside', 'out/c.md', 'in/c.md', 1],
  ] as const)('a file renamed %s is sent once [P4]', async (_, from, to, aliases) => {
    const { service, tested, mirror } = await startEngine(TREE)
    await tested.sync([mirror])
    renameSync(join(mirror.path, from), join(mirror.path, to))
    const partial = await tested.sync([mirror], { part: ['in/**'] })
    expect(partial.outcome).toBe('done')
    expect(accountOf(partial).uploads).toMatchObject({ created: 0, aliases })
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(4)
    expect(Object.keys(stateOf(tested)).sort()).toEqual(
      Object.keys(TREE)
        .map((path) => (path === from ? to : path))
        .sort(),
    )
  })

  test('a content that lies inside and outside is sent once [P4]', async () => {
    const { service, tested, mirror } = await startEngine({ 'in/a.md': 'same', 'out/a.md': 'same', 'out/b.md': 'b' })
    expect(accountOf(await tested.sync([mirror], { part: ['in/**'] })).uploads).toMatchObject({ created: 1 })
    expect(accountOf(await tested.sync([mirror])).uploads).toMatchObject({ created: 1, aliases: 1 })
    expect(service.count('uploadFile')).toBe(2)
  })

  test('what an earlier run held back outside the part waits on', async () => {
    const { service, tested, mirror } = await startEngine({ ...below('out', manyFiles(300, 300)), 'zz/in.md': 'in' })
    const withRoomFor = (newPerRun: number) => {
      const limits = { ...tested.engine.limits, newPerRun }
      return openTestEngine(service, { stateDir: tested.stateDir, limits })
    }
    await tested[Symbol.asyncDispose]()
    {
      await using first = withRoomFor(0)
      expect(accountOf(await first.sync([mirror])).uploads.heldBack).toBe(301)
    }
    await using second = withRoomFor(1)
    const sent = service.count('uploadFile')
    const { outcome, summary } = await second.sync([mirror], { part: ['zz/**'] })
    expect({ outcome, problems: summary.mirrors[0]?.problems }).toEqual({ outcome: 'done', problems: [] })
    expect(summary.mirrors[0]?.uploads).toMatchObject({ created: 1, heldBack: 0 })
    expect(service.count('uploadFile')).toBe(sent + 1)
    expect(titlesIn(service)).toContain('in.md')
  })

  test('ignore rules and include of the mirror hold inside the part', async () => {
    const tree = { 'in/a.md': 'a', 'in/b.md': 'b', 'in/c.txt': 'c', 'in/.env': 'x', 'in/.shelfdignore': 'b.md\n' }
    const { service, tested, mirror } = await startEngine(tree, { mirror: { include: ['*.md', '.env'] } })
    const { summary } = await tested.sync([mirror], { part: ['in/**'] })
    expect(summary.mirrors[0]?.files).toMatchObject({ scanned: 1, ignored: 4, secrets: 1 })
    expect(titlesIn(service)).toEqual(['a.md'])
  })

  test('a pattern counts as matched when one mirror has a file of it', async () => {
    const { tested, mirror } = await startEngine({ 'a.md': 'a', 'Büro/日本.md': 'b' })
    const other = mirrorOf(writeTree(temporaryDirectory(), { 'b.txt': 'b' }))
    const { summary } = await tested.sync([mirror, other], { part: ['*.txt', 'Büro/*.md', 'reprots/**'] })
    expect(summary.unmatched).toEqual(['reprots/**'])
    expect(summary.mirrors.map(({ uploads }) => uploads.created)).toEqual([1, 1])
  })

  test('a problem outside the part stays, one inside is over', async () => {
    const { tested, mirror } = await startEngine(TREE, { mirror: { maxSizeBytes: 0 } })
    await tested.sync([mirror])
    const { outcome } = await tested.sync([{ ...mirror, maxSizeBytes: null }], { part: ['in/**'] })
    expect(outcome).toBe('done')
    expect(tested.store.problems.list(1).map(({ path }) => path)).toEqual(['d.md', 'out/c.md'])
  })

  test('a dry run names only the part', async () => {
    const { service, tested, mirror } = await startEngine(TREE)
    const { summary } = await tested.sync([mirror], { part: ['*.md'], isDryRun: true })
    expect(summary.mirrors[0]?.uploads.created).toBe(4)
    const partial = await tested.sync([mirror], { part: ['in/**'], isDryRun: true })
    expect(accountOf(partial)).toMatchObject({ uploads: { created: 2, bytes: 2 }, directories: { created: 3 } })
    expect(service.count('uploadFile')).toBe(0)
  })

  test('runs over parts and one over all leave the state of one over all [P13]', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/d-')}.md`)
    const tree = fc.dictionary(path, fc.constantFrom('1', '2', '3', '4'), { minKeys: 1, maxKeys: 8 })
    const pattern = fc.constantFrom('a.md', '/a/**', 'd-b/', '*.md', '/b/d-*/c.md', 'c*', '**/d-a.md')
    const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 })
    const service = await startFaultyService()
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        tree,
        tree,
        fc.array(patterns, { maxLength: 2 }),
        fc.boolean(),
        async (before, after, parts, isMirrors) => {
          round += 1
          const states = []
          for (const runs of [[], parts]) {
            const directory = temporaryDirectory()
            await using tested = openTestEngine(service)
            const library = `${round}-${runs === parts ? 'parts' : 'all'}`
            const mirror = mirrorOf(directory, { library, remotePath: '/x' })
            const syncPart = (part: readonly string[]) =>
              isMirrors
                ? tested.sync([{ ...mirror, include: part }], { acceptsRemovals: true })
                : tested.sync([mirror], { part })
            writeTree(directory, before)
            await tested.sync([mirror], { acceptsRemovals: true })
            for (const [part, text] of runs.map((each, index) => [each, `${index}`] as const)) {
              writeTree(directory, { 'between.md': text })
              await syncPart(part)
            }
            for (const old of Object.keys(before)) rmSync(join(directory, old))
            writeTree(directory, after)
            rmSync(join(directory, 'between.md'), { force: true })
            for (const part of runs) await syncPart(part)
            const last = await tested.sync([mirror], { acceptsRemovals: true })
            expect(last.outcome).toBe('done')
            states.push(stateOf(tested))
          }
          expect(states[1]).toEqual(states[0])
        },
      ),
      { numRuns: 12 },
    )
  })
})
