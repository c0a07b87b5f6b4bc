import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LogFields, Logger } from '../../../src/foundation/logger.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { accountOf, startEngine } from '../../support/engine.ts'
import { titlesIn } from '../../support/library-contents.ts'
import { manyFiles } from '../../support/temporary.ts'

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
})
