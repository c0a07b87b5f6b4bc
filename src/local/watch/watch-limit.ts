import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { ownUid } from '../../foundation/files/ownership.ts'
import { proposedWatches, type WatchUse } from '../../rules/doctor-findings.ts'

export function isWatchLimit(thrown: unknown): boolean {
  return ['ENOSPC', 'EMFILE'].includes(systemCodeOf(thrown) ?? '')
}

/** Names the inotify setting to raise, with current and proposed value. */
export function describeWatchLimit(thrown: unknown): string {
  const isInstances = systemCodeOf(thrown) === 'EMFILE'
  const name = isInstances ? 'max_user_instances' : 'max_user_watches'
  const present = readInotifySetting(name)
  if (present === undefined) return 'The system allows no more watches'
  const proposed = isInstances ? present * 2 : proposedWatches(present)
  return `The system allows no more watches: fs.inotify.${name} is ${present}; raise it with "sysctl fs.inotify.${name}=${proposed}"`
}

function readInotifySetting(name: string, proc = '/proc'): number | undefined {
  return attempt(() => Number(readFileSync(`${proc}/sys/fs/inotify/${name}`, 'utf8')))
}

export function countWatches(proc = '/proc'): WatchUse | undefined {
  const limit = readInotifySetting('max_user_watches', proc)
  if (limit === undefined) return undefined
  const processes = readdirSync(proc).filter((name) => /^\d+$/.test(name) && isOwn(`${proc}/${name}`))
  return { limit, used: sum(processes.map((name) => watchesOf(`${proc}/${name}`))) }
}

function isOwn(process: string): boolean {
  return attempt(() => statSync(process).uid) === ownUid()
}

/** 0 when the process has ended or is unreadable. */
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

/** Undefined for a process that has ended or may not be read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
