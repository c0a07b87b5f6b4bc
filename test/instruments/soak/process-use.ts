import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** What a process holds now, as Linux reports it. */
export interface ProcessUse {
  readonly residentBytes: number
  /** The most that was resident since its start. */
  readonly peakBytes: number
  /** Of the resident bytes, what is neither code nor any other file: heaps, stacks, caches. */
  readonly anonymousBytes: number
  readonly descriptors: number
  /** Directories and files that inotify watches. */
  readonly watches: number
  readonly threads: number
  /** Since its start, of all its threads. */
  readonly cpuSeconds: number
}

const TICKS_PER_SECOND = 100

/** Reads all of it from /proc; throws the system's error when the process is gone. */
export function readProcessUse(pid: number): ProcessUse {
  const at = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')
  const memory = at('smaps_rollup')
  const status = at('status')
  const descriptors = readdirSync(`/proc/${pid}/fd`)
  return {
    residentBytes: readField(memory, 'Rss') * 1_024,
    peakBytes: readField(status, 'VmHWM') * 1_024,
    anonymousBytes: readField(memory, 'Anonymous') * 1_024,
    descriptors: descriptors.length,
    watches: descriptors.reduce((sum, descriptor) => sum + countWatches(pid, descriptor), 0),
    threads: readField(status, 'Threads'),
    cpuSeconds: readCpuSeconds(at('stat')),
  }
}

function readField(text: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`The system does not report ${name}`)
  return Number(value)
}

/** User and system time, fields 14 and 15; the name in field 2 may hold anything. */
function readCpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Returns 0 if the descriptor is closed meanwhile. */
function countWatches(pid: number, descriptor: string): number {
  try {
    if (readlinkSync(join(`/proc/${pid}/fd`, descriptor)) !== 'anon_inode:inotify') return 0
    return readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8').match(/^inotify wd:/gm)?.length ?? 0
  } catch {
    return 0
  }
}
