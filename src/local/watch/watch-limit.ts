import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { ownUid } from '../../foundation/files/ownership.ts'
import { proposedWatches, type WatchUse } from '../../rules/doctor-findings.ts'

export function isWatchLimit(thrown: unknown): boolean {
  return ['ENOSPC', 'EMFILE'].includes(systemCodeOf(thrown) ?? '')
}

/** Returns a message that names the inotify setting to raise, with its current value and a proposed one. */
export function describeWatchLimit(thrown: unknown): string {
  const isInstanceLimit = systemCodeOf(thrown) === 'EMFILE'
  const name = isInstanceLimit ? 'max_user_instances' : 'max_user_watches'
  const current = readInotifySetting(name)
  if (current === undefined) return 'The system allows no more watches'
  const proposed = isInstanceLimit ? current * 2 : proposedWatches(current)
  return `The system allows no more watches: fs.inotify.${name} is ${current}; raise it with "sysctl fs.inotify.${name}=${proposed}"`
}

function readInotifySetting(name: string, proc = '/proc'): number | undefined {
  return attempt(() => Number(readFileSync(`${proc}/sys/fs/inotify/${name}`, 'utf8')))
}

/** Returns the limit of watches and the number that this user's processes have; undefined on a system without inotify. */
export function countWatches(proc = '/proc'): WatchUse | undefined {
  const limit = readInotifySetting('max_user_watches', proc)
  if (limit === undefined) return undefined
  const processes = readdirSync(proc).filter((name) => /^\d+$/.test(name) && isOwn(`${proc}/${name}`))
  return { limit, used: sum(processes.map((name) => watchesOf(`${proc}/${name}`))) }
}

function isOwn(process: string): boolean {
  return attempt(() => statSync(process).uid) === ownUid()
}

/** Returns 0 for a process that has ended or may not be read. */
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

/** Returns undefined if `read` throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
