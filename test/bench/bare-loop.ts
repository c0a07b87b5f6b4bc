import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import type { Bench } from './bench.ts'
import { type ProcessResult, runProcess } from './run-process.ts'

const CHILD = new URL('./children/bare-loop.ts', import.meta.url)

/** A whole process of two threads that list the tree and `lstat` or hash every file; it starts as plain JavaScript, as shelfd does. */
export function bareLoop({ tree, workspace }: Bench, perFile: 'lstat' | 'hash'): () => Promise<ProcessResult> {
  const script = `${workspace.fresh('bare-loop')}.mjs`
  writeFileSync(script, stripTypeScriptTypes(readFileSync(CHILD, 'utf8')))
  return () => runProcess([process.execPath, script, tree, perFile])
}
