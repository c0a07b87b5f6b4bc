import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** Mounting needs the rights of root. */
export const mayMount = process.getuid?.() === 0

/** Something mounted until it is disposed of, or until the test is over. */
export function mount(args: readonly string[], at: string): Disposable {
  mkdirSync(at, { recursive: true })
  execFileSync('mount', [...args, at])
  let isMounted = true
  const unmount = () => {
    if (isMounted) execFileSync('umount', [at])
    isMounted = false
  }
  onTestFinished(unmount)
  return { [Symbol.dispose]: unmount }
}

/** A disk of this size (such as `3m`) in memory. */
export function mountSmallDisk(at: string, size: string): Disposable & { resize(size: string): void } {
  const mounted = mount(['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs'], at)
  const resize = (wanted: string) => {
    execFileSync('mount', ['-o', `remount,size=${wanted}`, at])
  }
  return { ...mounted, resize }
}
