import { join } from 'node:path'
import { UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { isLeftOut } from '../../local/ignore/ignore-files.ts'
import { createRootScope, GIT_IGNORE_FILE_NAME } from '../../local/ignore/ignore-scope.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { describeBroadRoot, keepsSecrets, overlapOf } from '../../rules/broad-and-overlapping-roots.ts'
import type { MirrorSettings } from '../../sync/engine.ts'
import { isMissing, realPathOf } from '../files/paths-on-disk.ts'

const BUILT_IN = createRootScope({ ignore: [], include: [] })

/** Returns what the directory holds, such as `the whole home directory`, if mirroring it needs a confirmation; otherwise undefined. */
export function describeRoot(path: string, home: string): string | undefined {
  const real = realPathOf('/', path)
  const isSecret = (name: string) => name !== '' && BUILT_IN.decideEntry('', name, true)?.secret
  const broad = describeBroadRoot(real, realPathOf('/', home))
  return broad ?? (keepsSecrets(real) || real.split('/').some(isSecret) ? 'secrets' : undefined)
}

/** Returns the end of a sentence about a `.gitignore` in the directory that its mirror does not use; undefined if there is none. */
export function describeUnusedGitignore(path: string, isUsed: boolean | undefined): string | undefined {
  if (isUsed || isMissing(join(path, GIT_IGNORE_FILE_NAME))) return undefined
  return 'has a .gitignore, which is not used; "gitignore: true" in the settings of the mirror uses it'
}

/**
 * Throws UsageError `mirrors-overlap` if a chosen mirror and another chosen or active one would send the same files. A mirror may lie in
 * another one whose rules leave it out. `reservedNames`: names that stored mirrors reserve; `mirrors forget` frees them.
 */
export function assertNoOverlap(
  chosen: readonly MirrorSettings[],
  active: readonly MirrorSettings[],
  reservedNames: ReadonlySet<string>,
): void {
  const names = new Set(chosen.map(({ name }) => name))
  const others = active.filter(({ name }) => !names.has(name))
  for (const [index, mirror] of chosen.entries()) {
    for (const other of [...chosen.slice(0, index), ...others]) {
      const text = describeOverlap(mirror, other, removalHint([mirror, other], reservedNames))
      if (text !== undefined) throw new UsageError('mirrors-overlap', text)
    }
  }
}

/** Returns a message about the overlap, and how to resolve it; undefined if the mirrors do not overlap. */
function describeOverlap(left: MirrorSettings, right: MirrorSettings, hint: string): string | undefined {
  const leftRoot = realPathOf('/', left.path)
  const rightRoot = realPathOf('/', right.path)
  const overlap = overlapOf(leftRoot, rightRoot)
  switch (overlap.kind) {
    case 'apart':
      return undefined
    case 'same':
      return `The mirrors "${left.name}" and "${right.name}" mirror the same directory ("${leftRoot}"), which would be sent twice; ${hint}`
    case 'holds':
      return describeNested(left, leftRoot, right, { path: overlap.inner, hint })
    case 'lies-in':
      return describeNested(right, rightRoot, left, { path: overlap.inner, hint })
  }
}

/** Returns undefined if `outer` leaves the inner mirror out. `path`: the inner mirror below `root`; `hint`: how to remove one of them. */
function describeNested(
  outer: MirrorSettings,
  root: string,
  inner: MirrorSettings,
  { path, hint }: { readonly path: string; readonly hint: string },
): string | undefined {
  const { breadth } = outer
  if (isLeftOut(boundedFileSystem, root, outer, path)) return undefined
  if (breadth !== null && outer.isAdHoc) {
    const text = `"${root}" holds ${breadth}, and the mirror "${inner.name}" ("${inner.path}") lies in it`
    return `${text}, so the files of that mirror would be sent twice; mirror only the directories that you need, or ${hint}`
  }
  const pattern = `/${path.replaceAll(/[\\*?[]/g, '\\$&')}/`
  const file = `"${root.replace(/\/?$/, '/')}.shelfdignore"`
  const files = outer.isAdHoc ? file : `"ignore" of "${outer.name}", or to ${file}`
  const text = `The mirror "${inner.name}" lies in the mirror "${outer.name}" ("${root}"), and its files would be sent twice`
  return `${text}; add "${pattern}" to ${files}; or ${hint}`
}

function removalHint(pair: readonly MirrorSettings[], reservedNames: ReadonlySet<string>): string {
  const forgettable = pair.find(({ name, isAdHoc }) => isAdHoc && reservedNames.has(name))
  if (forgettable)
    return `forget the mirror "${forgettable.name}": "shelfd mirrors forget ${shellWord(forgettable.name)}"`
  const names = pair.filter(({ isAdHoc }) => !isAdHoc).map(({ name }) => `"${name}"`)
  if (names.length === 0) return 'name only one of the two directories'
  return `take ${names.length === 1 ? names[0] : 'one of the two'} out of the configuration`
}
