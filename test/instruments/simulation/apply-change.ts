/** What others do to the disk. */
import { bytesOf } from './contents.ts'
import type { Change } from './scenario.ts'
import { LEFT_OUT, OUTSIDE, ROOT, type World } from './world.ts'

export function applyChange(world: World, change: Change): void {
  const { disk } = world
  if (change.kind === 'alter') {
    world.alter(change.how)
    return
  }
  const whole = `${ROOT}/${change.path}`
  switch (change.kind) {
    case 'put':
      world.put(change.path, bytesOf(change.content))
      break
    case 'overwrite':
      world.put(change.path, bytesOf(change.content), true)
      break
    case 'remove':
      disk.remove(whole)
      break
    case 'rename':
      for (const path of disk.list(ROOT).keys()) {
        if (path.startsWith(`${change.path}/`)) world.recordDirectory(`${change.to}${path.slice(change.path.length)}`)
      }
      world.recordDirectory(change.to)
      disk.rename(whole, `${ROOT}/${change.to}`)
      break
    case 'unreadable':
      disk.setReadable(whole, false)
      world.hidden.record(change.path)
      break
    case 'readable':
      disk.setReadable(whole, true)
      break
    case 'broken':
      disk.setFault(whole, 'EIO')
      break
    case 'repaired':
      disk.setFault(whole, undefined)
      break
    case 'link':
      disk.link(whole, change.path.endsWith('.md') ? `${OUTSIDE}/0.md` : OUTSIDE)
      break
    case 'directory':
      world.makeDirectory(change.path)
      break
    case 'pipe':
      disk.pipe(whole)
      break
  }
}

/** In the place of what is about to be opened, or of its directory, a link stands: to a file that is left out, or to the outside. */
export function plantLink({ disk, random, traits }: World, path: string): void {
  if (!path.startsWith(`${ROOT}/`) || random() >= traits.linkShare) return
  const isFile = disk.kindOf(path) === 'file'
  if (isFile && random() < 0.7) {
    disk.link(path, `${ROOT}/${LEFT_OUT}`)
    return
  }
  const directory = isFile ? path.slice(0, path.lastIndexOf('/')) : path
  // Below both are files of the same names.
  if (disk.kindOf(directory) === 'directory' && directory !== ROOT) disk.link(directory, OUTSIDE)
}
