import { joinPath } from '../../foundation/files/paths.ts'
import type { IgnoreScope } from './ignore-scope.ts'

interface Step {
  readonly path: string
  /** The rules in force in the directory that holds `path`. */
  readonly scope: IgnoreScope
}

/**
 * Goes down from the root to a directory, which is the last step; the root itself ('') has no step. `readRules` returns the
 * `.shelfdignore` of a directory on the way, undefined where there is none.
 */
export function* descend(
  path: string,
  rootScope: IgnoreScope,
  readRules: (directory: string) => string | undefined,
): Generator<Step> {
  let scope = rootScope
  let directory = ''
  for (const name of path === '' ? [] : path.split('/')) {
    scope = scope.enter(directory, readRules(directory))
    directory = joinPath(directory, name)
    yield { path: directory, scope }
  }
}
