/** A process that may have few watches: watches the tree of its first argument and prints the result. */
import { systemClock } from '../../../src/foundation/clock.ts'
import { messageOf } from '../../../src/foundation/errors.ts'
import { openTreeWatcher } from '../../../src/local/watch/open-tree-watcher.ts'
import type { WatchBackEnd } from '../../../src/local/watch/tree-watcher.ts'
import { directoriesOf, recording } from './watched-tree.ts'

/** What the process prints, as JSON. */
export interface Limited {
  readonly added: number
  readonly isLimited: boolean
  readonly limits: readonly string[]
  readonly refusal: string | null
}

const BACK_ENDS: Readonly<Record<string, WatchBackEnd>> = { node: 'node', chokidar: 'chokidar' }
const [root = '', name = ''] = process.argv.slice(2)

process.stdout.write(JSON.stringify(await watchAll(BACK_ENDS[name] ?? 'node')))

async function watchAll(backEnd: WatchBackEnd): Promise<Limited> {
  const { reported, options } = recording(root, backEnd, systemClock)
  try {
    await using watcher = await openTreeWatcher(options)
    const added = watcher.add(directoriesOf(root)).length
    return { added, isLimited: watcher.isLimited, limits: reported.limits, refusal: null }
  } catch (error) {
    return { added: 0, isLimited: false, limits: reported.limits, refusal: messageOf(error) }
  }
}
