import { z } from 'zod'
import { accountChurn } from '../../support/churn.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import { scrape } from './sample.ts'
import { type Soak, TIMES } from './soak.ts'

/** What is wrong with the library, in words; empty when it holds exactly the contents that settled, each sent once. */
export type Complaints = readonly string[]

/** Stops the daemon and compares the library with the trees, which must be settled. */
export async function compareSides(
  soak: Soak,
): Promise<{ readonly resources: number; readonly complaints: Complaints }> {
  const { uploads, otherUploads } = await scrape(soak.metricsUrl)
  const { exitCode } = await soak.daemon.stop()
  const resources = readLibrary(soak.dataDir).map(({ sha256 }) => sha256)
  const account = Object.entries(accountChurn(soak.trees, resources, TIMES))
  const complaints = [
    ...account.flatMap(([name, contents]) => (contents.length > 0 ? [`${contents.length} contents ${name}`] : [])),
    ...(uploads === resources.length ? [] : [`${uploads} uploads for ${resources.length} resources`]),
    ...(otherUploads === 0 ? [] : [`${otherUploads} uploads that were not created`]),
    ...(exitCode === 0 ? [] : [`the daemon ended ${exitCode}`]),
    ...(await complainOfReport(soak)),
  ]
  return { resources: resources.length, complaints }
}

const reported = z.object({ mirrors: z.array(z.object({ counts: z.record(z.string(), z.number()) })) })

/** Expects `shelfd report` to list every file in sync, and only superseded versions besides. */
async function complainOfReport({ program, env, trees }: Soak): Promise<Complaints> {
  const { stdout } = await runShelfd(['report', '--json'], { main: program, env, cwd: env.HOME ?? '.' }).ended
  const counts = reported.parse(JSON.parse(stdout)).mirrors.flatMap((mirror) => Object.entries(mirror.counts))
  const inSync = counts.filter(([name]) => name === 'in-sync').reduce((sum, [, count]) => sum + count, 0)
  const files = trees.reduce((sum, { churner }) => sum + churner.fileCount, 0)
  const odd = counts.filter(([name, count]) => name !== 'in-sync' && name !== 'superseded' && count > 0)
  return [
    ...(inSync === files ? [] : [`the report has ${inSync} of ${files} files in sync`]),
    ...odd.map(([name, count]) => `the report has ${count} ${name}`),
  ]
}
