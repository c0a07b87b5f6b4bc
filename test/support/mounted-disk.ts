import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { needs } from './needs.ts'
import { type Tree, writeTree } from './temporary.ts'

/** Something mounted until it is disposed of, as a disk is unplugged (what is open stays so), or until the test is over. */
export function mount(args: readonly string[], at: string): Disposable {
  needs('mounts', 'mount', 'umount')
  mkdirSync(at, { recursive: true })
  execFileSync('mount', [...args, at])
  let isMounted = true
  const unmount = () => {
    if (isMounted) execFileSync('umount', ['--lazy', at])
    isMounted = false
  }
  onTestFinished(unmount)
  return { [Symbol.dispose]: unmount }
}

/** Creates the image of a disk with these files; `madeAt` in seconds since the Unix epoch, `at` is where it is mounted for that. */
export function makeDisk(image: string, madeAt: number, at: string, files: Tree): void {
  needs('mounts', 'mke2fs')
  writeFileSync(image, '')
  execFileSync('truncate', ['--size=8M', image])
  execFileSync('mke2fs', ['-q', '-t', 'ext4', image], { env: { ...process.env, E2FSPROGS_FAKE_TIME: String(madeAt) } })
  using _mounted = mount(['-o', 'loop', image], at)
  writeTree(at, files)
}

/** A disk of this size (such as `3m`) in memory, its root for its user alone. */
export function mountSmallDisk(at: string, size: string): Disposable & { resize(size: string): void } {
  const mounted = mount(['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs'], at)
  const resize = (wanted: string) => {
    execFileSync('mount', ['-o', `remount,size=${wanted}`, at])
  }
  return { ...mounted, resize }
}
