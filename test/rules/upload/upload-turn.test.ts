import { expect, test } from 'vitest'
import { uploadTurn } from '../../../src/rules/upload/upload-turn.ts'

test.each([
  { doubts: 0, problemCount: 0, turn: 'first' },
  { doubts: 1, problemCount: 0, turn: 'last' },
  { doubts: 0, problemCount: 1, turn: 'last' },
  { doubts: 3, problemCount: 2, turn: 'last' },
])('a content that failed is sent after all that never did: %j', ({ turn, ...content }) => {
  expect(uploadTurn(content)).toBe(turn)
})
