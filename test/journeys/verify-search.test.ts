/** `sync --verify-search`: what a run made searchable is found by the service's own search. */
import { describe, expect, test } from 'vitest'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'

const PAPERS = {
  'a.md': '# Tides\n\nSpring tides follow the new moon.\n',
  'b.txt': 'Neap tides are the lower ones.\n',
  'c.csv': '1,2\n',
}

/** Syncs once with the check; `results` are the results of a search, which it may change. */
async function syncChecked(
  service: FaultyService,
  change: (results: readonly { resource: { title?: string } }[]) => unknown,
) {
  const home = homeWithPapers(PAPERS, service)
  service.rewrite = ({ route }, body) =>
    route === 'searchResources' && Array.isArray(body.results) ? { ...body, results: change(body.results) } : body
  return await home.sync(['Papers', '--to', 'Research', '--verify-search'])
}

describe('sync --verify-search', () => {
  test('new text documents are found by a phrase from each', async () => {
    const home = homeWithPapers(PAPERS)
    const first = await home.shelfd(['sync', 'Papers', '--verify-search'])
    expect(first.exitCode).toBe(0)
    expect(first.stderr).toContain('A search found 2 of 2 new text documents by a phrase from it.')
    const second = await home.shelfd(['sync', 'Papers', '--verify-search'])
    expect(second.stderr).toContain('No new text document to search for.')
  })

  test('a document that its phrase does not find is a problem', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const { exitCode, mirror, summary } = await syncChecked(service, (results) =>
      results.filter(({ resource }) => !resource.title?.startsWith('a')),
    )
    expect(mirror.problems).toEqual([
      {
        path: 'a.md',
        code: 'search-missed',
        message:
          'the service reports it as searchable, but a search for "Spring tides follow the new moon" does not find it',
        retryAt: null,
      },
    ])
    expect({ exitCode, verdict: summary.verdict, searches: service.count('searchResources') }).toEqual({
      exitCode: 1,
      verdict: 'failed',
      searches: 2,
    })
  })

  test('a search that the service refuses is named once', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    service.answer = ({ route }) =>
      route === 'searchResources' ? { status: 422, body: { message: 'no search here' } } : undefined
    const { exitCode, mirror } = await syncChecked(service, (results) => results)
    expect({ exitCode, codes: mirror.problems.map(({ code }) => code) }).toEqual({ exitCode: 1, codes: ['invalid'] })
  })

  test('a run that does not wait cannot be checked', async () => {
    expectExit(
      await temporaryHome().shelfd(['sync', '.', '--verify-search', '--no-wait']),
      2,
      'leave out --dry-run and --no-wait',
    )
  })
})
