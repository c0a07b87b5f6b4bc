/** Ways in which something else takes the place of a mirror's directory while the program works, and how it comes back. */
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { mount } from './mounted-disk.ts'
import { needs } from './needs.ts'
import { missingOf } from './programs.ts'
import { type Tree, writeTree } from './temporary.ts'

/** The directory of a mirror, and what is prepared beside it: another directory with files, and room for more. */
export interface SwapPlace {
  readonly root: string
  readonly other: string
  readonly aside: string
  /** Files of whatever takes the place of the directory. */
  readonly strangers: Tree
}

export interface RootSwap {
  readonly needsMount: boolean
  /** Prepares the swap, before the program starts. */
  readonly arm: (place: SwapPlace) => Swap
}

/** Takes the directory away; the returned function brings it back. */
export type Swap = () => () => void

const bindMount = (source: string, at: string) => mount(['--bind', source], at)

function moveAside({ root, aside }: SwapPlace, inItsPlace: () => void): Swap {
  return () => {
    renameSync(root, aside)
    inItsPlace()
    return () => {
      rmSync(root, { recursive: true, force: true })
      renameSync(aside, root)
    }
  }
}

function mountOver(mounting: () => Disposable): Swap {
  return () => {
    const mounted = mounting()
    return () => mounted[Symbol.dispose]()
  }
}

const SWAPS = {
  'bind-mount': { needsMount: true, arm: ({ other, root }) => mountOver(() => bindMount(other, root)) },
  tmpfs: {
    needsMount: true,
    arm: ({ root, strangers }) =>
      mountOver(() => {
        const mounted = mount(['-t', 'tmpfs', 'tmpfs'], root)
        writeTree(root, strangers)
        return mounted
      }),
  },
  unmounted: {
    needsMount: true,
    arm: ({ root, aside, strangers }) => {
      renameSync(root, aside)
      writeTree(root, strangers)
      const mounted = bindMount(aside, root)
      return () => {
        mounted[Symbol.dispose]()
        return () => void bindMount(aside, root)
      }
    },
  },
  renamed: { needsMount: false, arm: (place) => moveAside(place, () => renameSync(place.other, place.root)) },
  'new-directory': {
    needsMount: false,
    arm: (place) => moveAside(place, () => void writeTree(place.root, place.strangers)),
  },
  link: { needsMount: false, arm: (place) => moveAside(place, () => symlinkSync(place.other, place.root)) },
  'moved-away': { needsMount: false, arm: (place) => moveAside(place, () => {}) },
} as const satisfies Record<string, RootSwap>

export const rootSwaps: readonly (readonly [name: string, swap: RootSwap])[] = Object.entries(SWAPS)

const mayMount = missingOf(['mounts', 'mount', 'umount']).length === 0

/** Those that this user may do. */
export const possibleRootSwaps = rootSwaps.filter(([, { needsMount }]) => mayMount || !needsMount)

/** Makes a directory with `files`, and what takes its place, which has `strangers`. */
export function armSwap(swap: RootSwap, root: string, files: Tree, strangers: Tree): Swap {
  if (swap.needsMount) needs('mounts', 'mount', 'umount')
  writeTree(root, files)
  return swap.arm({ root, other: writeTree(`${root}.other`, strangers), aside: `${root}.aside`, strangers })
}
