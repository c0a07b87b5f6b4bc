import { describe, expect, test } from 'vitest'
import { isLeftOut } from '../../../src/local/ignore/ignore-files.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

function treeOf(ignoreFile: string) {
  const root = writeTree(temporaryDirectory(), {
    '.shelfdignore': ignoreFile,
    'a/b/c.md': 'c',
    'a/.shelfdignore': '!/b\n',
  })
  return { root, ignore: [], include: [], oneFileSystem: false }
}

describe('a directory below a mirror', () => {
  test('a directory is left out with any directory above it', () => {
    expect(isOut(nodeFileSystem, treeOf('/a\n'), 'a/b')).toBe(true)
    expect(isOut(nodeFileSystem, treeOf('/other\n'), 'a/b')).toBe(false)
    expect(isOut(nodeFileSystem, { ...treeOf(''), ignore: ['a/'] }, 'a/b')).toBe(true)
  })

  test('a deeper rule brings a directory back', () => {
    expect(isOut(nodeFileSystem, treeOf('b\n'), 'a/b')).toBe(false)
  })

  test('the built-in list leaves a directory out', () => {
    expect(isOut(nodeFileSystem, treeOf(''), 'node_modules/x')).toBe(true)
  })

  test('a directory on another file system is left out [F-FS-09]', () => {
    const mounted: FileSystem = {
      ...nodeFileSystem,
      lstatSync: (path, options) => {
        const stats = nodeFileSystem.lstatSync(path, options)
        const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats
        return { ino, mode, size, mtimeNs, ctimeNs, dev: path.endsWith('a/b') ? dev + 1n : dev }
      },
    }
    const tree = treeOf('')
    expect(isOut(mounted, tree, 'a/b')).toBe(false)
    expect(isOut(mounted, { ...tree, oneFileSystem: true }, 'a/b')).toBe(true)
    expect(isOut(nodeFileSystem, { ...tree, oneFileSystem: true }, 'a/b')).toBe(false)
  })
})

function isOut(
  fs: FileSystem,
  tree: Parameters<typeof isLeftOut>[2] & { readonly root: string },
  path: string,
): boolean {
  return isLeftOut(fs, tree.root, tree, path)
}
