import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fileCounts } from '../../../src/contract/file-counts.ts'
import type { Published, PublishedMirror, PublishedProblem, PublishedRun } from '../../../src/ledger/published.ts'
import { expectLedgerError, type LedgerUnderTest, openTwo, TestHost } from '../test-host.ts'

/** What people see of hosts. */
export function describePublished(ledger: () => LedgerUnderTest): void {
  describe('what hosts tell of themselves', () => {
    test('is read elsewhere as it was told, with its host', async () => {
      const nas = await TestHost.open(ledger())
      const told = {
        sentInDay: 3,
        mirrors: [mirror('papers', { path: '/home/ünder\0 the \ud800 stairs' })],
        problems: [problem('papers', 'a.md'), problem('papers', 'b\0\ud800.md', 'b')],
        runs: [run(2), run(1)],
      }
      await nas.ledger.publish(nas.session, told)
      const of = { hostId: nas.opened.hostId, host: 'nas' }
      const { view } = ledger()
      expect(await view.listMirrors(of.hostId)).toEqual(told.mirrors.map((each) => ({ ...each, ...of })))
      expect(await view.listProblems({ hostId: of.hostId, limit: 9 })).toEqual(
        told.problems.map((each) => ({ ...each, ...of })),
      )
      expect(await view.listRuns({ hostId: of.hostId, limit: 9 })).toEqual(
        told.runs.map((each) => ({ ...each, ...of })),
      )
    })

    test('replaces what the host told before, and nothing of other hosts', async () => {
      const [nas, laptop] = await openTwo(ledger())
      for (const host of [nas, laptop]) {
        const problems = [problem('papers', 'a.md'), problem('papers', 'b.md'), problem('notes', 'c.md')]
        await publish(host, { mirrors: [mirror('notes'), mirror('papers')], problems, runs: [run(2), run(1)] })
      }
      await publish(nas, {
        mirrors: [mirror('papers', { isPaused: true })],
        problems: [problem('papers', 'b.md')],
        runs: [run(3)],
      })
      const { view } = ledger()
      expect(await view.listMirrors(nas.opened.hostId)).toMatchObject([{ name: 'papers', isPaused: true }])
      expect(await problemsOf(ledger(), nas)).toEqual(['b.md'])
      expect(await view.listRuns({ hostId: nas.opened.hostId, limit: 9 })).toMatchObject([{ run: 3 }])
      expect(await view.listMirrors(laptop.opened.hostId)).toMatchObject([{ name: 'notes' }, { name: 'papers' }])
      expect(await problemsOf(ledger(), laptop)).toEqual(['c.md', 'a.md', 'b.md'])
    })

    test('keeps problems and runs that are not told again', async () => {
      const nas = await TestHost.open(ledger())
      await publish(nas, { problems: [problem('papers', 'a.md')], runs: [run(1)] })
      await publish(nas, { problems: undefined, runs: undefined })
      expect(await problemsOf(ledger(), nas)).toEqual(['a.md'])
      expect(await ledger().view.listRuns({ hostId: nas.opened.hostId, limit: 9 })).toHaveLength(1)
    })

    test('is bounded: the first thousand problems of a mirror, and a hundred runs', async () => {
      const nas = await TestHost.open(ledger())
      const problems = Array.from({ length: 1_001 }, (_, index) => problem('papers', `${index}.md`))
      const runs = Array.from({ length: 101 }, (_, index) => run(200 - index))
      await publish(nas, { problems: [...problems, problem('notes', 'a.md')], runs })
      const found = await problemsOf(ledger(), nas)
      expect(found).toHaveLength(1_001)
      expect(found).not.toContain('1000.md')
      const past = await ledger().view.listRuns({ hostId: nas.opened.hostId, limit: 999 })
      expect(past.map((each) => each.run)).toEqual(runs.slice(0, 100).map((each) => each.run))
    })

    test('is found by content, over all hosts', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const words = crypto.randomUUID()
      await publish(nas, { problems: [problem('papers', 'a.md', words), problem('papers', 'b.md', 'other')] })
      await publish(laptop, { problems: [problem('papers', 'c.md', words)] })
      const found = await ledger().view.listProblems({ hostId: null, limit: 9, sha256: sha256Of(words) })
      expect(found.map(({ host, path }) => [host, path])).toEqual([
        ['laptop', 'c.md'],
        ['nas', 'a.md'],
      ])
    })

    test('is not taken from a session that is over', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.close(nas)
      await expectLedgerError(publish(nas, {}), 'session-over')
    })
  })
}

async function publish(host: TestHost, told: Partial<Published>): Promise<void> {
  await host.ledger.publish(host.session, { sentInDay: 0, mirrors: [], problems: [], runs: [], ...told })
}

async function problemsOf({ view }: LedgerUnderTest, { opened }: TestHost): Promise<string[]> {
  return (await view.listProblems({ hostId: opened.hostId, limit: 9_999 })).map(({ path }) => path)
}

export function mirror(name: string, more: Partial<PublishedMirror> = {}): PublishedMirror {
  return {
    ...{ name, path: `/home/ada/${name}`, library: { id: 'l1', name: 'Research', remotePath: '/' } },
    ...{ state: { sign: '✓', text: 'all searchable' }, isPaused: false, files: fileCounts.parse({}) },
    ...{ queue: { contents: 0, bytes: 0 }, inIngestion: 0, problems: 0, lastRun: null, nextRunAt: null },
    ...more,
  }
}

/** `words`: of the content that failed; without them, the path could not be read. */
export function problem(mirrorName: string, path: string, words?: string): PublishedProblem {
  const failed = { stage: 'upload', resourceId: null, tries: 1, since: null, retryAt: null } as const
  const content = words === undefined ? null : { ...failed, sha256: sha256Of(words), isSetAside: false, files: 1 }
  return { mirror: mirrorName, path, code: 'EACCES', message: 'Cannot read it', content }
}

export function run(number: number): PublishedRun {
  const startedAt = new Date(number * 1_000).toISOString()
  const mirrors = [{ name: 'papers', sent: 1, bytes: 2, problems: 0 }]
  return { run: number, verdict: 'ok', startedAt, finishedAt: startedAt, durationMs: 5, mirrors }
}

function sha256Of(words: string): string {
  return createHash('sha256').update(words).digest('hex')
}
