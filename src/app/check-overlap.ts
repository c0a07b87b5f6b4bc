import { UsageError } from '../foundation/errors.ts'
import { shellWord } from '../foundation/text.ts'
import { isLeftOut } from '../local/ignore/is-left-out.ts'
import { nodeFileSystem } from '../local/read/file-system.ts'
import { overlapOf } from '../rules/overlap.ts'
import type { MirrorSettings } from '../sync/engine.ts'
import { realPathOf } from './real-path.ts'

/** Mirrors that are to be synced, and what they are compared with. */
export interface Compared {
  readonly chosen: readonly MirrorSettings[]
  /** Those that are synced when nobody names them. */
  readonly active: readonly MirrorSettings[]
  /** Names of mirrors that the store knows: these can be forgotten. */
  readonly known: ReadonlySet<string>
}

/**
 * Throws UsageError `mirrors-overlap` when files of a chosen mirror are files of another one too, chosen or active: each would
 * be sent twice. A mirror may lie in one that leaves it out.
 */
export function assertApart({ chosen, active, known }: Compared): void {
  const names = new Set(chosen.map(({ name }) => name))
  const others = active.filter(({ name }) => !names.has(name))
  for (const [index, mirror] of chosen.entries()) {
    for (const other of [...chosen.slice(0, index), ...others]) {
      const text = describeOverlap(mirror, other)
      if (text !== undefined) throw new UsageError('mirrors-overlap', `${text}; ${wayOut([mirror, other], known)}`)
    }
  }
}

/** What is wrong with two mirrors beside each other, and how both can stay where that is possible. */
function describeOverlap(left: MirrorSettings, right: MirrorSettings): string | undefined {
  const leftRoot = realPathOf('/', left.path)
  const rightRoot = realPathOf('/', right.path)
  const overlap = overlapOf(leftRoot, rightRoot)
  switch (overlap.kind) {
    case 'apart':
      return undefined
    case 'same':
      return `The mirrors "${left.name}" and "${right.name}" stand for one directory ("${leftRoot}"), which would be sent twice`
    case 'holds':
      return describeNested({ outer: left, root: leftRoot, inner: right, path: overlap.inner })
    case 'lies-in':
      return describeNested({ outer: right, root: rightRoot, inner: left, path: overlap.inner })
  }
}

interface Nested {
  readonly outer: MirrorSettings
  /** Of the outer one; a real path. */
  readonly root: string
  readonly inner: MirrorSettings
  /** Of the inner one below the root. */
  readonly path: string
}

function describeNested({ outer, root, inner, path }: Nested): string | undefined {
  const { ignore, oneFileSystem, breadth } = outer
  if (isLeftOut(nodeFileSystem, { root, ignore, oneFileSystem }, path)) return undefined
  if (breadth !== null && outer.isAdHoc) {
    const held = `"${root}" holds ${breadth}, the mirror "${inner.name}" ("${inner.path}") among it`
    return `${held}, whose files would be sent twice; mirror only the directories that you mean`
  }
  const pattern = `/${path.replaceAll(/[\\*?[]/g, '\\$&')}/`
  const file = `"${root.replace(/\/?$/, '/')}.shelfdignore"`
  const places = outer.isAdHoc ? file : `"ignore" of "${outer.name}", or to ${file}`
  const text = `The mirror "${inner.name}" lies in the mirror "${outer.name}" ("${root}"), and its files would be sent twice`
  return `${text}; add "${pattern}" to ${places}`
}

/** How to do without one of the two. */
function wayOut(pair: readonly MirrorSettings[], known: ReadonlySet<string>): string {
  const forgettable = pair.find(({ name, isAdHoc }) => isAdHoc && known.has(name))
  if (forgettable) return `or do without that mirror: "shelfd mirrors forget ${shellWord(forgettable.name)}"`
  const names = pair.filter(({ isAdHoc }) => !isAdHoc).map(({ name }) => `"${name}"`)
  return `or take ${names.length === 1 ? names[0] : 'one of the two'} out of the configuration`
}
