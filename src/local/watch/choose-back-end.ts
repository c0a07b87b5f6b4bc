import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import { FILE_SYSTEMS } from '../read/file-system-kinds.ts'
import type { WatchBackEnd } from './tree-watcher.ts'

/** `poll`: no watcher at all, the daemon scans at intervals. */
export type ChosenBackEnd = WatchBackEnd | 'poll'

export interface BackEndOptions {
  readonly wanted: 'auto' | ChosenBackEnd
  readonly root: string
  readonly platform: NodeJS.Platform
  /** `statfsSync`: on Linux `type` is the magic number of the file system. */
  readonly statfs: (path: string) => { readonly type: number }
}

export interface BackEndChoice {
  readonly backEnd: ChosenBackEnd
  /** For the log and for people. */
  readonly reason: string
}

/** What is to watch a mirror. Where nobody knows whether a watcher would hear everything, scanning is what is true. */
export function chooseBackEnd(question: BackEndOptions): BackEndChoice {
  const { wanted, platform } = question
  if (wanted !== 'auto') return { backEnd: wanted, reason: 'chosen in the configuration' }
  if (platform === 'darwin' || platform === 'win32') {
    return { backEnd: 'parcel', reason: 'the system watches whole trees' }
  }
  if (platform === 'linux' || platform === 'android') return chooseByFileSystem(question)
  return { backEnd: 'poll', reason: `watching was not tried on ${platform}` }
}

function chooseByFileSystem({ root, statfs }: BackEndOptions): BackEndChoice {
  try {
    // Some systems give the magic number as a negative one.
    const type = statfs(root).type >>> 0
    const known = FILE_SYSTEMS.get(type)
    if (!known) return { backEnd: 'poll', reason: `unknown file system 0x${type.toString(16)}` }
    if (known.isLocal) return { backEnd: 'node', reason: `local file system (${known.name})` }
    return { backEnd: 'poll', reason: `${known.name} may change from elsewhere without a word` }
  } catch (error) {
    return { backEnd: 'poll', reason: `the file system cannot be asked: ${escapeText(messageOf(error))}` }
  }
}
