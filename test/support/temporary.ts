import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Files by relative path; a path that ends with a slash is an empty directory. */
export type Tree = Readonly<Record<string, string | Uint8Array>>

/** Makes a directory with the files of a tree, which is removed when the test is over; its path is a real one. */
export function temporaryDirectory(tree: Tree = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return writeTree(path, tree)
}

/** Writes a tree below `root`, which is created if absent, and returns `root`. */
export function writeTree(root: string, tree: Tree): string {
  mkdirSync(root, { recursive: true })
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(path.endsWith('/') ? join(root, path) : dirname(join(root, path)), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(join(root, path), content)
  }
  return root
}

/** `count` files in some directories, `distinct` different contents among them. */
export function manyFiles(count: number, distinct: number): Tree {
  const files = Array.from({ length: count }, (_, index) => {
    return [`d${index % 7}/e${index % 3}/file-${index}.md`, `# Content ${index % distinct}\n`] as const
  })
  return Object.fromEntries(files)
}
