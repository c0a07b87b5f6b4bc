import { findProgram } from '../../../support/programs.ts'
import { bareLoop } from '../bare-loop.ts'
import type { Bench } from '../bench.ts'
import type { Mirrored } from '../first-sync.ts'
import { compareInPairs } from '../pairs.ts'
import { missingPeer, type ResultRow, resultRow, showMegabytes, timeRow, verdict } from '../result-table.ts'
import { RCLONE, runProcess } from '../run-process.ts'

const WORK = 'unchanged pass'
const MOST = 1.6
const MAX_REQUESTS = 3

/** A second `sync` of a tree in which nothing changed: the whole process, beside bare walks and beside rclone. */
export async function unchangedPass(bench: Bench): Promise<ResultRow[]> {
  const mirrored = await bench.firstSync.get()
  const ours = () => runProcess(mirrored.command, { env: mirrored.env })
  const find = () => runProcess(['find', bench.tree, '-printf', '%s%T@%i%p'], { quiet: true })
  const besideLoop = await compareInPairs(bench.options.runs, ours, await bareLoop(bench, 'lstat'))
  const besideFind = await compareInPairs(bench.options.runs, ours, find)
  return [
    timeRow(WORK, 'bare loop', besideLoop, MOST),
    timeRow(WORK, 'find -printf', besideFind, undefined),
    await besideRclone(bench, ours),
    ...(await besideRestic(bench, ours)),
    requestsRow(mirrored),
    resultRow({ work: `${WORK}: peak memory`, ours: showMegabytes(mirrored.second.peakBytes) }),
  ]
}

type Side = () => ReturnType<typeof runProcess>

async function besideRclone({ tree, workspace, options }: Bench, ours: Side): Promise<ResultRow> {
  if (!findProgram('rclone')) return missingPeer(WORK, 'rclone sync')
  const copy = workspace.fresh('copy')
  await runProcess(['cp', '-a', tree, copy])
  const rclone = () => runProcess([...RCLONE, 'sync', tree, copy], { quiet: true })
  return timeRow(WORK, 'rclone sync', await compareInPairs(options.runs, ours, rclone), undefined)
}

/** Without a target: it reads more than others, and is what people have. */
async function besideRestic({ tree, workspace, options }: Bench, ours: Side): Promise<ResultRow[]> {
  if (!findProgram('restic')) return [missingPeer(WORK, 'restic backup')]
  const env = { ...process.env, RESTIC_PASSWORD: 'bench', RESTIC_CACHE_DIR: workspace.fresh('cache') }
  const repository = ['restic', '--quiet', '--repo', workspace.fresh('repository')]
  await runProcess([...repository, 'init'], { env })
  const restic = () => runProcess([...repository, 'backup', tree], { env, quiet: true })
  return [timeRow(WORK, 'restic backup', await compareInPairs(Math.min(options.runs, 3), ours, restic), undefined)]
}

function requestsRow({ secondRequests, files }: Mirrored): ResultRow {
  return resultRow({
    work: `${WORK}: requests for ${files} files`,
    ours: String(secondRequests),
    target: `≤ ${MAX_REQUESTS}`,
    verdict: verdict(secondRequests <= MAX_REQUESTS),
  })
}
