import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { ownUid } from '../../foundation/files/ownership.ts'
import type { WatchUse } from '../../rules/doctor.ts'

/** Counts the watches of inotify that this user's processes have; undefined where the system has no such limit. */
export function countWatches(proc = '/proc'): WatchUse | undefined {
  const limit = attempt(() => Number(readFileSync(`${proc}/sys/fs/inotify/max_user_watches`, 'utf8')))
  if (limit === undefined) return undefined
  const processes = readdirSync(proc).filter((name) => /^\d+$/.test(name) && isOwn(`${proc}/${name}`))
  return { limit, used: sum(processes.map((name) => watchesOf(`${proc}/${name}`))) }
}

function isOwn(process: string): boolean {
  return attempt(() => statSync(process).uid) === ownUid()
}

/** Watches of one process; 0 when it has ended or may not be looked at. */
function watchesOf(process: string): number {
  const descriptors = attempt(() => readdirSync(`${process}/fd`)) ?? []
  const notifying = descriptors.filter(
    (fd) => attempt(() => readlinkSync(`${process}/fd/${fd}`)) === 'anon_inode:inotify',
  )
  const infos = notifying.map((fd) => attempt(() => readFileSync(`${process}/fdinfo/${fd}`, 'utf8')) ?? '')
  return sum(infos.map((info) => info.match(/^inotify /gm)?.length ?? 0))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

/** Undefined when the system refuses: processes end at any time, and some may not be looked at. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
