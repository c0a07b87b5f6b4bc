import { describe, expect, test } from 'vitest'
import { describeChanges } from '../../../src/app/settings/describe-changes.ts'
import { readSettingsWith } from './read-settings-with.ts'

function changesOf(before: string, after: string): string[] {
  return describeChanges(readSettingsWith({ yaml: before }), readSettingsWith({ yaml: after }))
}

function mirror(name: string, more = ''): string {
  return `  - { name: ${name}, path: ~/${name}, library: Research${more} }\n`
}

describe('changes of the configuration', () => {
  test('mirrors in another order are no change', () => {
    const [papers, notes] = [mirror('papers'), mirror('notes')]
    expect(changesOf(`mirrors:\n${papers}${notes}`, `mirrors:\n${notes}${papers}`)).toEqual([])
  })

  test('a change is described by name, old and new value', () => {
    const before = `mirrors:\n${mirror('papers')}`
    const after = `mirrors:\n${mirror('papers', ', settle: 2s, schedule: 0 2 * * *')}`
    expect(changesOf(before, after)).toEqual([
      'mirrors.papers.schedule: not set → "0 2 * * *"',
      'mirrors.papers.settleMs: 5000 → 2000',
    ])
  })

  test('an added or removed mirror counts as one change', () => {
    const [one, both] = [`mirrors:\n${mirror('papers')}`, `mirrors:\n${mirror('papers')}${mirror('notes')}`]
    expect(changesOf(one, both)).toEqual([
      expect.stringMatching(/^mirrors\.notes was added: \/.*\/notes → Research:\/notes$/),
    ])
    expect(changesOf(both, one)).toEqual(['mirrors.notes was removed'])
  })

  test('a change at the end of a long value is seen', () => {
    const patterns = Array.from({ length: 60 }, (_, index) => `"draft-${index}"`).join(', ')
    const [before, after] = ['"a"', '"b"'].map(
      (last) => `mirrors:\n${mirror('papers', `, ignore: [${patterns}, ${last}]`)}`,
    )
    const changes = changesOf(before ?? '', after ?? '')
    expect(changes).toEqual([expect.stringMatching(/^mirrors\.papers\.ignore: /)])
    expect(changes[0]?.length).toBeLessThan(300)
  })

  test('a change shows neither a token nor its command', () => {
    const service = 'service:\n  url: https://library.example.com\n'
    const before = { yaml: `${service}  tokenCommand: [printf, s3cret-one]\n` }
    const after = { yaml: `${service}  token: s3cret-two\n`, mode: 0o600 }
    const changes = describeChanges(readSettingsWith(before), readSettingsWith(after))
    expect(changes).toEqual(['service.token changed', 'service.tokenCommand changed'])
  })

  test('a change escapes what terminals would obey', () => {
    const hostile = mirror('papers', ', library: "a\\u202eb\\u009b31m"').replace('library: Research, ', '')
    const [change] = changesOf(`mirrors:\n${mirror('papers')}`, `mirrors:\n${hostile}`)
    expect(change).toMatch(/^mirrors\.papers\.library: "Research" → /)
    expect(change).not.toMatch(/[\u202e\u009b]/)
  })
})
