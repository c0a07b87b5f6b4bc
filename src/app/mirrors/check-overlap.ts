import { UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { isLeftOut } from '../../local/ignore/is-left-out.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { overlapOf } from '../../rules/broad-and-overlapping-roots.ts'
import type { MirrorSettings } from '../../sync/engine.ts'
import { realPathOf } from '../files/paths-on-disk.ts'

export interface Compared {
  readonly chosen: readonly MirrorSettings[]
  /** Mirrors that are synced without being named. */
  readonly active: readonly MirrorSettings[]
  readonly known: ReadonlySet<string>
}

/** Throws UsageError `mirrors-overlap` when two mirrors would send the same files. A mirror may lie in another one that leaves it out. */
export function assertApart({ chosen, active, known }: Compared): void {
  const names = new Set(chosen.map(({ name }) => name))
  const others = active.filter(({ name }) => !names.has(name))
  for (const [index, mirror] of chosen.entries()) {
    for (const other of [...chosen.slice(0, index), ...others]) {
      const text = describeOverlap(mirror, other, removalHint([mirror, other], known))
      if (text !== undefined) throw new UsageError('mirrors-overlap', text)
    }
  }
}

/** Describes the overlap, and how to keep both or remove one; undefined without one. */
function describeOverlap(left: MirrorSettings, right: MirrorSettings, hint: string): string | undefined {
  const leftRoot = realPathOf('/', left.path)
  const rightRoot = realPathOf('/', right.path)
  const overlap = overlapOf(leftRoot, rightRoot)
  switch (overlap.kind) {
    case 'apart':
      return undefined
    case 'same':
      return `The mirrors "${left.name}" and "${right.name}" stand for one directory ("${leftRoot}"), which would be sent twice; ${hint}`
    case 'holds':
      return describeNested(left, leftRoot, right, { path: overlap.inner, hint })
    case 'lies-in':
      return describeNested(right, rightRoot, left, { path: overlap.inner, hint })
  }
}

/** `path`: of the inner mirror, relative to the root; `hint`: how to remove one of the two. */
function describeNested(
  outer: MirrorSettings,
  root: string,
  inner: MirrorSettings,
  { path, hint }: { readonly path: string; readonly hint: string },
): string | undefined {
  const { breadth } = outer
  if (isLeftOut(boundedFileSystem, root, outer, path)) return undefined
  if (breadth !== null && outer.isAdHoc) {
    const nested = `"${root}" holds ${breadth}, with the mirror "${inner.name}" ("${inner.path}")`
    return `${nested}, so that the files of this mirror would be sent twice; mirror only the directories that you mean; or ${hint}`
  }
  const pattern = `/${path.replaceAll(/[\\*?[]/g, '\\$&')}/`
  const file = `"${root.replace(/\/?$/, '/')}.shelfdignore"`
  const places = outer.isAdHoc ? file : `"ignore" of "${outer.name}", or to ${file}`
  const text = `The mirror "${inner.name}" lies in the mirror "${outer.name}" ("${root}"), and its files would be sent twice`
  return `${text}; add "${pattern}" to ${places}; or ${hint}`
}

function removalHint(pair: readonly MirrorSettings[], known: ReadonlySet<string>): string {
  const forgettable = pair.find(({ name, isAdHoc }) => isAdHoc && known.has(name))
  if (forgettable) return `do without that mirror: "shelfd mirrors forget ${shellWord(forgettable.name)}"`
  const names = pair.filter(({ isAdHoc }) => !isAdHoc).map(({ name }) => `"${name}"`)
  return `take ${names.length === 1 ? names[0] : 'one of the two'} out of the configuration`
}
