import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ChildMeasure } from './children/bench-engine.ts'

export interface Measure {
  readonly seconds: number
  /** Of all its threads and children; undefined where the system doesn't report it. */
  readonly cpuSeconds: number | undefined
}

export interface ProcessResult extends Measure {
  readonly stdout: string
}

interface ProcessOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Its output is thrown away by the system instead of being read. */
  readonly quiet?: boolean
  /** It ends with 1 where it names files that it could not read. */
  readonly mayFail?: boolean
}

/** Runs a program to its end and measures it from its start; throws when it fails. */
export async function runProcess(command: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
  const [program = '', ...rest] = command
  const cpuBefore = cpuOfChildren()
  const startMs = performance.now()
  const stdio: ['ignore', 'pipe' | 'ignore', 'pipe'] = ['ignore', options.quiet ? 'ignore' : 'pipe', 'pipe']
  const child = spawn(program, rest, { stdio, env: options.env ?? process.env })
  const stop = () => void child.kill('SIGKILL')
  // Before the workspace that it writes to is removed.
  process.prependOnceListener('exit', stop)
  const output = child.stdout ? text(child.stdout) : ''
  const complaints = child.stderr ? text(child.stderr) : ''
  await once(child, 'close')
  process.off('exit', stop)
  const seconds = (performance.now() - startMs) / 1_000
  if (child.exitCode !== 0 && !(options.mayFail && child.exitCode === 1))
    throw new Error(`${command.join(' ')} ended ${child.exitCode}: ${await complaints}`)
  const cpuAfter = cpuOfChildren()
  const cpuSeconds = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore
  return { seconds, cpuSeconds, stdout: await output }
}

const TICKS_PER_SECOND = 100

/** Processor time of the children that have ended: fields 16 and 17 of Linux's /proc/self/stat. */
function cpuOfChildren(): number | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [, ...fields] = stat.slice(stat.lastIndexOf(')')).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

/** Runs a part of the benchmark in a process of its own and gives what it measured inside. */
export async function runChild<Measured extends ChildMeasure = ChildMeasure>(
  script: URL,
  input: object,
): Promise<Measured> {
  const { stdout } = await runProcess([process.execPath, fileURLToPath(script), JSON.stringify(input)])
  return JSON.parse(stdout)
}

/** Peers must not find anybody's configuration. */
export const RCLONE = ['rclone', '--config', '/dev/null', '--quiet'] as const
