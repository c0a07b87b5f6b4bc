import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findDocumentFolders } from '../../../src/app/files/document-folders.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

describe('document folders', () => {
  test('the folders with the most documents come first', () => {
    const home = writeTree(temporaryDirectory(), {
      'Papers/2024/a.pdf': '',
      'Papers/b.md': '',
      'Notes/c.txt': '',
      'Music/d.ogg': '',
      '.config/e.md': '',
      'code/node_modules/f.md': '',
      'deep/1/2/3/g.md': '',
      'h.md': '',
    })
    symlinkSync(join(home, 'Papers'), join(home, 'Link'))
    expect(findDocumentFolders(home)).toEqual([
      { path: join(home, 'Papers'), documents: 2 },
      { path: join(home, 'Notes'), documents: 1 },
    ])
  })

  test('an unreadable home has no document folders', () => {
    expect(findDocumentFolders(join(temporaryDirectory(), 'missing'))).toEqual([])
  })
})
