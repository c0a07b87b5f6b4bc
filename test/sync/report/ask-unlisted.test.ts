/** What the report says of resources that a complete listing does not show. */
import { describe, expect, test } from 'vitest'
import { startEngine } from '../../support/engine.ts'
import type { FaultyService } from '../../support/faulty-service.ts'
import { manyFiles } from '../../support/temporary.ts'

describe('a complete listing that lacks a resource', () => {
  /** A report over pages on none of which the second file of each directory is, since the one before it was deleted meanwhile. */
  async function reportOverShiftedPages(answer: FaultyService['answer'] = () => undefined) {
    const { service, tested, mirror } = await startEngine(manyFiles(42, 42))
    await tested.sync([mirror])
    const shifted = new Set<unknown>()
    service.rewrite = ({ route }, body) => {
      if (route !== 'listDirectory' || !Array.isArray(body.files)) return body
      const second = body.files[1]?.id
      if (second === undefined) return body
      shifted.add(second)
      return { ...body, files: body.files.filter(({ id }) => id !== second) }
    }
    service.answer = (request) => (request.route === 'showResource' ? answer(request) : undefined)
    service.forget()
    const { rows } = await tested.report([mirror])
    const classes = Map.groupBy(rows, ({ entry }) => entry.class)
    return { service, classes, shifted: shifted.size }
  }

  test('a resource that deleted entries shifted past a cursor is asked for, and is not missing [P11]', async () => {
    const { service, classes, shifted } = await reportOverShiftedPages()
    expect([...classes.keys()]).toEqual(['in-sync'])
    expect(classes.get('in-sync')).toHaveLength(42)
    expect([shifted, service.count('showResource')]).toEqual([21, 21])
  })

  test.each([
    ['does not answer', { status: 503, body: {} }],
    ['refuses an answer', { status: 403, body: {} }],
    ['answers for another one', { status: 200, body: { id: 'another' } }],
  ])('a resource for which the service %s is unknown, never missing [P11]', async (_, answer) => {
    const { classes, shifted } = await reportOverShiftedPages(() => answer)
    expect(classes.get('unknown')).toHaveLength(shifted)
    expect([...classes.keys()].toSorted()).toEqual(['in-sync', 'unknown'])
  })
})
