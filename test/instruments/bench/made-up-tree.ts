import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILES_A_DIRECTORY = 100
const DIRECTORIES_A_DIRECTORY = 100

/** The path of a made-up file relative to its tree. */
export function madeUpPath(index: number): string {
  const directory = Math.floor(index / FILES_A_DIRECTORY)
  return join(`d${Math.floor(directory / DIRECTORIES_A_DIRECTORY)}`, `e${directory}`, `file-${index}.txt`)
}

/** Writes `files` small files below a new directory, each with a content of its own. */
export function writeMadeUpTree(root: string, files: number): void {
  for (let index = 0; index < files; index += 1) {
    const path = join(root, madeUpPath(index))
    if (index % FILES_A_DIRECTORY === 0) mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `Made-up file ${index} of ${files}\n`)
  }
}
