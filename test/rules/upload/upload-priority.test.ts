import { expect, test } from 'vitest'
import { uploadPriority } from '../../../src/rules/upload/upload-priority.ts'

test.each([
  { doubts: 0, problemCount: 0, priority: 'first' },
  { doubts: 1, problemCount: 0, priority: 'last' },
  { doubts: 0, problemCount: 1, priority: 'last' },
  { doubts: 3, problemCount: 2, priority: 'last' },
])('a content that failed is sent after all that never did: %j', ({ priority, ...content }) => {
  expect(uploadPriority(content)).toBe(priority)
})
