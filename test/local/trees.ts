import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { memfs } from 'memfs'
import type { FileSystem } from '../../src/local/file-system.ts'
import { nodeFileSystem } from '../../src/local/file-system.ts'

/** A directory of its own for one test; disposing removes it. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-local-')))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Files by relative path; a path that ends with a slash is an empty directory. */
export function writeTree(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(path.endsWith('/') ? join(root, path) : dirname(join(root, path)), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(join(root, path), content)
  }
}

/** The real file system with some calls replaced. */
export function faulty(replaced: Partial<FileSystem>): FileSystem {
  return { ...nodeFileSystem, ...replaced }
}

/** An error as Node throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: said by the test`), { code })
}

/** What `action` throws. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown')
}

/** memfs fits FileSystem as it runs; its types are wider than what it returns. */
export function memoryFileSystem(files: Readonly<Record<string, string>>): FileSystem {
  return memfs(files).fs as unknown as FileSystem
}
