import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../support/programs.ts'
import { readProcessUse } from '../soak/process-use.ts'
import { bareLoop } from './bare-loop.ts'
import type { Bench } from './bench.ts'
import { daemonHome, startBenchDaemon } from './bench-daemon.ts'
import { type NullService, startNullService } from './null-service.ts'
import { median } from './pairs.ts'
import { type Measure, type ProcessResult, RCLONE, runProcess } from './run-process.ts'
import { runWithPeak, shelfdEnvironment, syncCommand } from './run-shelfd.ts'

/** One kind of work on a tree: the medians of its runs. */
export interface WorkMeasure {
  readonly work: string
  readonly seconds: number
  /** Undefined where the system does not report it. */
  readonly cpuSeconds: number | undefined
  readonly peakBytes: number
}

export interface PeerMeasure {
  readonly work: 'first pass' | 'unchanged pass'
  readonly peer: string
  readonly seconds: number
}

export interface SizeMeasure {
  readonly files: number
  readonly works: readonly WorkMeasure[]
  readonly peers: readonly PeerMeasure[]
}

type Run = () => Promise<ProcessResult>

/** A made-up tree with a copy, and where its mirror is kept. */
interface Place {
  readonly bench: Bench
  readonly runs: number
  readonly tree: string
  readonly copy: string
  readonly service: NullService
  readonly home: string
}

/** Makes up a tree, mirrors it, and measures each kind of work on it and what its peers take. */
export async function measureSize(bench: Bench, files: number, runs: number): Promise<SizeMeasure> {
  const tree = join(bench.workspace.fresh('made-up'), 'files')
  mkdirSync(tree, { recursive: true })
  writeMadeUpTree(tree, files)
  const copy = bench.workspace.fresh('copy')
  // Links have the same sizes and times, which is all that rclone compares.
  await runProcess(['cp', '-al', tree, copy])
  using service = await startNullService({ listsUploads: true })
  const place = { bench, runs, tree, copy, service, home: daemonHome(bench, tree) }
  const first = await measureFirstPass(place)
  const firstSync = await measureFirstSync(place)
  const unchanged = await measureUnchangedPass(place)
  const readings = await measureReadings(place, madeUpPath(files >> 1))
  const works = [first.ours, firstSync, unchanged.ours, ...readings, await measureDaemonStart(place)]
  await runProcess(['rm', '-rf', tree, copy])
  return { files, works, peers: [...first.peers, ...unchanged.peers] }
}

async function measureFirstPass({ bench, runs, tree, service }: Place) {
  const env = shelfdEnvironment(bench.workspace.fresh('home'), service.url)
  const command = [...syncCommand(bench.program, tree), '--dry-run']
  const peers = {
    'bare loop': await bareLoop({ ...bench, tree }, 'hash'),
    ...(findProgram('rclone') && {
      'rclone hashsum': () => runProcess([...RCLONE, 'hashsum', 'sha256', tree], { quiet: true }),
    }),
  }
  return besidePeers('first pass', { runs, command, env, peers })
}

async function measureUnchangedPass({ bench, runs, tree, copy, service, home }: Place) {
  const env = shelfdEnvironment(home, service.url)
  const peers = {
    'bare loop': await bareLoop({ ...bench, tree }, 'lstat'),
    ...(findProgram('rclone') && { 'rclone sync': () => runProcess([...RCLONE, 'sync', tree, copy], { quiet: true }) }),
    find: () => runProcess(['find', tree, '-printf', '%s%T@%i%p'], { quiet: true }),
  }
  return besidePeers('unchanged pass', { runs, command: configuredSync(bench), env, peers })
}

interface Compared {
  readonly runs: number
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly peers: Readonly<Record<string, Run>>
}

/** Measures a command and its peers in turns, after a run that finds its peak and fills the caches. */
async function besidePeers(work: PeerMeasure['work'], { runs, command, env, peers }: Compared) {
  const { peakBytes } = await runWithPeak(command, env)
  const sides: readonly (readonly [string, Run])[] = [
    ['ours', () => runProcess(command, { env })],
    ...Object.entries(peers),
  ]
  const measured = new Map<string, Measure[]>(sides.map(([name]) => [name, []]))
  for (let run = 0; run < runs; run += 1) {
    for (const [name, side] of sides) measured.get(name)?.push(await side())
  }
  const ours = workOf(work, measured.get('ours') ?? [], peakBytes)
  return {
    ours,
    peers: Object.keys(peers).map((peer) => ({ work, peer, seconds: secondsOf(measured.get(peer) ?? []) })),
  }
}

/** Once, since a tree is new only once. */
async function measureFirstSync({ bench, service, home }: Place): Promise<WorkMeasure> {
  const run = await runWithPeak(configuredSync(bench), shelfdEnvironment(home, service.url))
  return workOf('first sync', [run], run.peakBytes)
}

async function measureReadings({ bench, runs, tree, service, home }: Place, path: string): Promise<WorkMeasure[]> {
  const env = shelfdEnvironment(home, service.url)
  const commands = {
    status: ['status'],
    why: ['why', join(tree, path)],
    'report, text': ['report'],
    'report, json': ['report', '--format', 'json'],
  }
  const works: WorkMeasure[] = []
  for (const [work, argv] of Object.entries(commands)) {
    const command = [process.execPath, bench.program, ...argv]
    const { peakBytes } = await runWithPeak(command, env, { quiet: true })
    const measures: Measure[] = []
    for (let run = 0; run < runs; run += 1) measures.push(await runProcess(command, { env, quiet: true }))
    works.push(workOf(work, measures, peakBytes))
  }
  return works
}

/** From the start of the process until the unchanged tree was scanned and is watched. */
async function measureDaemonStart({ bench, runs, service, home }: Place): Promise<WorkMeasure> {
  const measures: (Measure & { peakBytes: number })[] = []
  for (let run = 0; run < runs; run += 1) {
    const startMs = performance.now()
    await using daemon = await startBenchDaemon({ ...bench, service }, home)
    const seconds = (performance.now() - startMs) / 1_000
    const { cpuSeconds, peakBytes } = readProcessUse(daemon.pid)
    measures.push({ seconds, cpuSeconds, peakBytes })
  }
  return workOf('daemon start', measures, Math.max(...measures.map(({ peakBytes }) => peakBytes)))
}

/** `sync` of what the configuration names, which the daemon mirrors as well. */
function configuredSync({ program }: Bench): string[] {
  return [process.execPath, program, 'sync', '--adopt', '--json', '--wait-timeout', '3h']
}

function workOf(work: string, measures: readonly Measure[], peakBytes: number): WorkMeasure {
  const cpuSeconds = measures.flatMap((measure) => measure.cpuSeconds ?? [])
  return {
    work,
    seconds: secondsOf(measures),
    cpuSeconds: cpuSeconds.length > 0 ? median(cpuSeconds) : undefined,
    peakBytes,
  }
}

function secondsOf(measures: readonly Measure[]): number {
  return median(measures.map(({ seconds }) => seconds))
}

const FILES_A_DIRECTORY = 100
const DIRECTORIES_A_DIRECTORY = 100

/** The path of a made-up file relative to its tree. */
function madeUpPath(index: number): string {
  const directory = Math.floor(index / FILES_A_DIRECTORY)
  return join(`d${Math.floor(directory / DIRECTORIES_A_DIRECTORY)}`, `e${directory}`, `file-${index}.txt`)
}

/** Writes `files` small files below a new directory, each with a content of its own. */
function writeMadeUpTree(root: string, files: number): void {
  for (let index = 0; index < files; index += 1) {
    const path = join(root, madeUpPath(index))
    if (index % FILES_A_DIRECTORY === 0) mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `Made-up file ${index} of ${files}\n`)
  }
}
