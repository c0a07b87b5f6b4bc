import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findIntruder, findReader, type Intruder } from '../../foundation/files/ownership.ts'

/** An own file or directory that other users can read or change. */
export interface ExposedFile extends Intruder {
  readonly path: string
}

/** Lists what of an own directory and the files in it (not deeper) other users can read or change; empty without one. */
export function listExposed(directory: string): ExposedFile[] {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return []
  const files = readdirSync(directory).flatMap((name) => exposedFile(join(directory, name)) ?? [])
  const reader = findReader(directory, found, { isDirectory: true })
  // If nobody else can enter the directory, the modes of its files don't matter.
  return reader ? [{ ...reader, path: directory }, ...files] : []
}

function exposedFile(path: string): ExposedFile | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return undefined
  const intruder = findReader(path, found) ?? findIntruder(path, found)
  return intruder && { ...intruder, path }
}
