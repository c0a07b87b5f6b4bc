import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { z } from 'zod'
import { type ChurnedTree, Churner } from '../../support/churn.ts'
import { compileProgram } from '../../support/compiled-program.ts'
import { attachDaemon, type RunningDaemon } from '../../support/daemon.ts'
import { freePort } from '../../support/free-port.ts'
import { seededRandom } from '../../support/random.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import { runProcess } from '../bench/run-process.ts'
import { homeEnvironment } from '../bench/run-shelfd.ts'
import type { Workspace } from '../bench/workspace.ts'
import { anyNumber } from '../instrument.ts'
import { endWithUs } from './end-with-us.ts'

/** Directories are small, so that moving one moves few files. */
const DIRECTORIES_PER_FILE = 1 / 10
/** Files that a tree needs for each change a second: if half of it is gone between two scans, the daemon halts. */
const FILES_PER_CHANGE_PER_SECOND = 200

export const SOAK_OPTIONS = z
  .object({
    minutes: anyNumber(0.1, 10_080).default(30),
    files: anyNumber(60, 1_000_000).default(3_000).describe('files of all trees together, on average'),
    changesPerSecond: anyNumber(0.01, 1_000).default(10),
    seed: anyNumber(0, 2 ** 32)
      .default(20_261_121)
      .describe('seed of all random numbers, to repeat the changes of a run'),
  })
  .transform((options) => ({ ...options, files: Math.round(options.files) }))
  .refine(({ files, changesPerSecond }) => files >= FILES_PER_CHANGE_PER_SECOND * changesPerSecond, {
    path: ['files'],
    message: `must be at least ${FILES_PER_CHANGE_PER_SECOND} for each change a second`,
  })
export type SoakOptions = z.infer<typeof SOAK_OPTIONS>

/** A daemon of the compiled program, its mirrors, and the library that it fills: two processes beside this one. */
export interface Soak extends AsyncDisposable {
  readonly daemon: RunningDaemon
  readonly pid: number
  readonly metricsUrl: string
  readonly trees: readonly ChurnedTree[]
  /** Of the library. */
  readonly dataDir: string
  /** The compiled `main.js`. */
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

export const TIMES = { settleMs: 1_000, rescanMs: 60_000, surelySeenMs: 120_000 }

const TREES = ['Papers', 'Notes', 'Scans']
const LIBRARY = 'Research'
const MAX_WAIT_MS = 900_000

/** Starts the library and the daemon, and waits until the daemon answers. */
export async function openSoak(options: SoakOptions, workspace: Workspace): Promise<Soak> {
  const program = await compileProgram(workspace.fresh('program'))
  const home = workspace.fresh('home')
  await using starting = new AsyncDisposableStack()
  const library = starting.use(await serveLibrary(program, workspace.fresh('library')))
  const env = { ...homeEnvironment(home), SHELFD_SERVICE_URL: library.url, SHELFD_TOKEN_FILE: library.tokenFile }
  await runProcess([process.execPath, program, 'libraries', 'create', LIBRARY], { env })
  const trees = TREES.map((name, at) => fillTree(join(home, name), options, at))
  const port = await freePort()
  configure(home, trees, port)
  const running = runShelfd(['daemon'], { main: program, env, cwd: home })
  starting.use(endWithUs(running.child))
  const daemon = attachDaemon(running, join(home, 'state', 'shelfd'), MAX_WAIT_MS)
  const { pid } = await daemon.until('answering', () => true)
  const parts = starting.move()
  return {
    daemon,
    pid,
    metricsUrl: `http://127.0.0.1:${port}`,
    trees,
    dataDir: library.dataDir,
    program,
    env,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** A part of all files, changed with random numbers of its own. */
function fillTree(root: string, { files, seed }: SoakOptions, at: number): ChurnedTree {
  mkdirSync(root, { recursive: true })
  const churner = new Churner(root, `${root} elsewhere`, seededRandom(seed + at), `${at}.`)
  const share = Math.floor(files / TREES.length)
  churner.fill(share, share * DIRECTORIES_PER_FILE)
  return { root, churner }
}

function configure(home: string, trees: readonly ChurnedTree[], port: number): void {
  const [settle, rescan] = [`${TIMES.settleMs}ms`, `${TIMES.rescanMs}ms`]
  const config = {
    mirrors: trees.map(({ root }) => ({ path: root, library: LIBRARY, settle, rescan })),
    limits: { newPerRun: 'none', newPerDay: 'none' },
    health: { listen: `127.0.0.1:${port}` },
  }
  const directory = join(home, 'config', 'shelfd')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.yaml'), stringify(config))
}

/** A library in a process of its own, so that nothing of it is counted as the daemon's. */
interface Library extends AsyncDisposable {
  readonly url: string
  readonly tokenFile: string
  readonly dataDir: string
}

const announcement = z.object({ url: z.string(), tokenFile: z.string() })

/** Runs `shelfd serve` of a program and waits until it listens. */
export async function serveLibrary(program: string, dataDir: string): Promise<Library> {
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', dataDir, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ending = endWithUs(child)
  const announced = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  const { url, tokenFile } = announcement.parse(JSON.parse(String(announced[0])))
  return { url, tokenFile, dataDir, [Symbol.asyncDispose]: () => ending[Symbol.asyncDispose]() }
}

/** Changes one tree after the other, evenly in time, until `signal` is aborted. No tree grows beyond its share of the files. */
export async function churnTrees(
  trees: readonly ChurnedTree[],
  { files, changesPerSecond }: SoakOptions,
  signal: AbortSignal,
): Promise<void> {
  const mostFiles = Math.floor(files / trees.length)
  const mostDirectories = Math.ceil(mostFiles * DIRECTORIES_PER_FILE)
  const startMs = performance.now()
  for (let turn = 0; !signal.aborted; turn += 1) {
    const churner = trees[turn % trees.length]?.churner
    churner?.step()
    churner?.trim(mostFiles, mostDirectories)
    const changes = trees.reduce((sum, tree) => sum + tree.churner.changes, 0)
    const dueMs = startMs + (changes / changesPerSecond) * 1_000
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => {})
  }
}
