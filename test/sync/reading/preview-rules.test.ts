import { expect, test } from 'vitest'
import { previewRules } from '../../../src/sync/reading/preview-rules.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('the preview of rules sees only what the mirror includes', () => {
  const path = temporaryDirectory({ 'a.txt': 'a', 'b.txt': 'bb', 'c.md': 'c', 'notes/d.txt': 'd', 'notes/.env': 'x' })
  const rules = { maxSizeBytes: null, oneFileSystem: false, emptyFiles: 'upload' } as const
  const before = { ...rules, ignore: ['/notes/'], include: ['*.txt', '.env'] }
  const after = { ...before, ignore: ['b*'] }
  expect(previewRules({ path, before, after, ownDirectories: [], maxMs: 60_000 })).toEqual({
    ...{ files: 2, bytes: 2, isWhole: true },
    leaving: { count: 1, first: ['b.txt'] },
    coming: { count: 1, first: ['notes/d.txt'] },
  })
})
