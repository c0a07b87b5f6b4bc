import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunSummary, SyncSummary } from '../../../src/rules/sync-summary.ts'
import { homeVariables } from '../../support/home.ts'
import { type ProcessResult, runProcess } from './run-process.ts'

export interface ShelfdRun extends ProcessResult {
  readonly peakBytes: number
}

/** A home directory of its own, which is created. */
export function homeEnvironment(home: string) {
  mkdirSync(home, { recursive: true })
  return { ...homeVariables(home), NODE_COMPILE_CACHE: join(home, 'compiled') }
}

/** A home directory of its own, the null service, and the poll intervals of the embedded library, which is as near as this service. */
export function shelfdEnvironment(home: string, serviceUrl: string): Record<string, string> {
  return {
    ...homeEnvironment(home),
    SHELFD_SERVICE_URL: serviceUrl,
    SHELFD_TOKEN: 'bench',
    SHELFD_MAX_NEW: 'none',
    SHELFD_MAX_NEW_PER_DAY: 'none',
    SHELFD_IN_INGESTION: '5000',
    SHELFD_FIRST_POLL: '100ms',
  }
}

/** An earlier run may have created the directories, so a new state asks for a confirmation. */
export function syncCommand(program: string, tree: string): string[] {
  return [process.execPath, program, 'sync', tree, '--to', 'Bench:/bench', '--adopt', '--json']
}

/**
 * Notes the peak of resident memory when the process ends. Linux' own high-water mark starts anew with the program; the
 * one of getrusage may be its parent's.
 */
const PRELOAD = `
import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
const peak = () => {
  try { return Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) }
  catch { return process.resourceUsage().maxRSS }
}
if (isMainThread) process.on('exit', () => writeFileSync(process.env.BENCH_PEAK_FILE, String(peak())))`

/** Runs a command of the program and records its peak memory; for runs whose time is not compared. */
export async function runWithPeak(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  { quiet = false } = {},
): Promise<ShelfdRun> {
  const [node = '', ...rest] = command
  const peakFile = join(env.HOME ?? '.', 'peak')
  const preload = `data:text/javascript,${encodeURIComponent(PRELOAD)}`
  const peakEnv = { ...env, BENCH_PEAK_FILE: peakFile }
  const result = await runProcess([node, '--import', preload, ...rest], { env: peakEnv, quiet })
  return { ...result, peakBytes: Number(readFileSync(peakFile, 'utf8')) * 1_024 }
}

/** The account of a run's only mirror. */
export function readSummary({ stdout }: ProcessResult): SyncSummary {
  const { mirrors }: RunSummary = JSON.parse(stdout)
  const [mirror] = mirrors
  if (!mirror) throw new Error('The summary has no mirror')
  return mirror
}
