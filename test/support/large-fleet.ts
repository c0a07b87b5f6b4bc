import type { PublishedMirror, PublishedProblem, PublishedRun } from '../../src/ledger/published.ts'
import type { TestDatabase } from './postgres.ts'

interface Told {
  readonly mirror: PublishedMirror
  readonly problem: PublishedProblem
  readonly run: PublishedRun
}

/** Fills a ledger with a thousand hosts that have three mirrors each, all of which tell the same. */
export async function makeLargeFleet(ledger: TestDatabase, { mirror, problem, run }: Told): Promise<void> {
  const hosts = 'generate_series(1, 1000) i'
  await ledger.run(
    `INSERT INTO shelfd.host (id, key, name, version, session_id) SELECT i, 'k' || i, 'host-' || i, '0.1.0', i FROM ${hosts}`,
  )
  await ledger.run(
    `INSERT INTO shelfd.session (id, host_id, generation, timeline, beat) SELECT i, i, shelfd.generation_1(), shelfd.timeline_1(), 5 FROM ${hosts}`,
  )
  await ledger.run(`INSERT INTO shelfd.published_host (host_id, sent) SELECT i, i FROM ${hosts}`)
  for (const name of ['notes', 'papers', 'scans']) {
    const state = JSON.stringify({ ...mirror, name })
    await ledger.run(`INSERT INTO shelfd.published_mirror SELECT i, $1, '✓', 3, 2, $2 FROM ${hosts}`, [name, state])
  }
  await ledger.run(
    `INSERT INTO shelfd.published_problem SELECT i, 'papers', n, sha256(('x' || i || n)::bytea), $1 FROM ${hosts}, generate_series(1, 20) n`,
    [JSON.stringify(problem)],
  )
  await ledger.run(
    `INSERT INTO shelfd.published_run SELECT i, n, n * 1000 + i, $1 FROM ${hosts}, generate_series(1, 100) n`,
    [JSON.stringify(run)],
  )
  await ledger.run(
    `INSERT INTO shelfd.content SELECT 1, sha256(i::text::bytea), 1, 5, 'r' || i, 's', 1 + i % 1000 FROM generate_series(1, 200000) i`,
  )
  await ledger.run(
    `INSERT INTO shelfd.claim SELECT 1, sha256(('c' || i)::bytea), 1, 1 + i % 1000, 1 + i % 1000, 's', 0, null, now(), array['x'::bytea] FROM generate_series(1, 50000) i`,
  )
  await ledger.run('ANALYZE shelfd.content')
}
