import { isUtf8 } from 'node:buffer'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Words that are common in most trees of texts and programs. */
export const COMMON_WORDS = [
  'the',
  'file',
  'error',
  'function',
  'license',
  'return value',
  'read file error',
  'copyright notice',
]

const FILES_A_DIRECTORY = 1_000
const FILE_BYTES = 1_024

/** Cuts texts into made-up files of 1 KB, each different, in directories `d0`, `d1` …; cuts them again if there are too few. */
export function writeTexts(tree: string, paths: readonly string[], most: number): { files: number; bytes: number } {
  const written = { files: 0, bytes: 0 }
  for (let before = -1; written.files > before && written.files < most; ) {
    before = written.files
    for (const path of paths) cutText(tree, readFileSync(path), most, written)
  }
  return written
}

function cutText(tree: string, text: Buffer, most: number, written: { files: number; bytes: number }): void {
  if (!isUtf8(text) || text.includes(0)) return
  for (let at = 0; at + FILE_BYTES <= text.length && written.files < most; at += FILE_BYTES) {
    const directory = join(tree, `d${Math.floor(written.files / FILES_A_DIRECTORY)}`)
    if (written.files % FILES_A_DIRECTORY === 0) mkdirSync(directory, { recursive: true })
    const content = `${written.files}\n${text.toString('utf8', at, at + FILE_BYTES)}`
    writeFileSync(join(directory, `text-${written.files}.txt`), content)
    written.files += 1
    written.bytes += Buffer.byteLength(content)
  }
}
