import assert from 'node:assert/strict'
import { z } from 'zod'
import { readErrorBody } from '../../../src/contract/records.ts'
import type { Answer } from '../service-client.ts'
import { NotObserved } from './sentence.ts'

/** Returns the parsed value; throws an AssertionError that names the wrong field. */
export function conforms<T>(shape: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = shape.safeParse(value)
  if (success) return data
  throw new assert.AssertionError({ message: `${z.prettifyError(error)}\nin ${JSON.stringify(value)?.slice(0, 300)}` })
}

export function hasStatus(answer: Pick<Answer, 'status'> & Partial<Answer>, ...expected: readonly number[]): void {
  const found = `${answer.status} ${(answer.text ?? '').slice(0, 200)}`.trim()
  assert.ok(expected.includes(answer.status), `answered with ${found}, not with ${expected.join(' or ')}`)
}

/** A picture is taken from the video now, or the service says that it cannot do so now. */
export function isPicture({ status }: Pick<Answer, 'status'>): void {
  if (status === 503) throw new NotObserved('the service can take no pictures now')
  hasStatus({ status }, 200)
}

/** Asserts an error of this status, whose body is JSON with a text for people. */
export function refuses(answer: Answer, ...expected: readonly number[]): void {
  hasStatus(answer, ...expected)
  assert.match(answer.headers.get('content-type') ?? '', /\bjson\b/, 'an error must be JSON')
  assert.ok(readErrorBody(answer.json).text, `an error must explain itself in "detail" or "message": ${answer.text}`)
}

/** Asserts any refusal where the interface names no status. */
export function refusesSomehow(answer: Answer): void {
  assert.ok(answer.status >= 400 && answer.status < 500, `answered with ${answer.status}, not with a refusal`)
  refuses(answer, answer.status)
}
