import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { renderConfig } from '../../../src/app/settings/draft.ts'
import { withSection, withTexts } from '../../../src/app/settings/edit-file.ts'

const LISTS: Readonly<Record<string, readonly [source: string, before: string[], after: string[], expected: string]>> =
  {
    'a block list': [
      'a: # top\n  # first\n  - one # 1\n  # second\n  - two # 2\n  - three # 3\n# end\n',
      ['one', 'two', 'three'],
      ['one', 'three', 'four'],
      'a: # top\n  # first\n  - one # 1\n  - three # 3\n  - four\n# end\n',
    ],
    'the last item of a block list': [
      'a:\n  - one\n  # second\n  - two\nb: 1 # b\n',
      ['one', 'two'],
      ['one'],
      'a:\n  - one\nb: 1 # b\n',
    ],
    'a list on one line': [
      'a: ["*.bak", "x#"] # all\n',
      ['*.bak', 'x#'],
      ['x#', `\${y}`],
      'a: [ "x#", "$${y}" ] # all\n',
    ],
    'a list on several lines': [
      'a: [\n  one, # 1\n  two # 2\n]\n',
      ['one', 'two'],
      ['two', 'three'],
      'a: [\n  two, # 2\n  three\n]\n',
    ],
    'a variable': ['a:\n  - $HOME/x # home\n', ['/root/x'], ['/root/x', 'y'], 'a:\n  - $HOME/x # home\n  - y\n'],
    'no list': ['# top\nb: 1\n', [], ['*.bak'], '# top\nb: 1\na:\n  - "*.bak"\n'],
    'no item': ['a: []\nb: 1\n', [], ['#x'], 'a: [ "#x" ]\nb: 1\n'],
    'all items': ['a:\n  # why\n  - one\nb: 1\n', ['one'], [], 'a:\n  # why\n  []\nb: 1\n'],
  }

describe('an edited list', () => {
  test.each(Object.entries(LISTS))('keeps its comments: %s', (_, [source, before, after, expected]) => {
    const edited = withTexts(source, ['a'], { before, after })
    expect(edited).toBe(expected)
    expect(parse(edited.replaceAll('$$', '$').replaceAll('$HOME', '/root')).a).toEqual(after)
  })
})

const ADDED = /(?<dash> *)- name: notes\n\k<dash> {2}path: ~\/Notes\n/
const SECTION = { name: 'notes', path: '~/Notes' }
const WIZARD = renderConfig({
  service: undefined,
  mirrors: [{ name: 'papers', path: '~/Papers', library: 'Papers', remotePath: '/Papers' }],
})

describe('an added section', () => {
  test.each([
    ['a list', 'mirrors:\n  - name: a # first\n    # path: more\n\n# costs\nlimits: { newPerRun: 1 } # few\n'],
    ['a list without indentation', 'mirrors:\n- name: a # first\nlog:\n  format: text\n'],
    ['a list on one line', 'mirrors: [{ name: a }] # all\n'],
    ['an empty list', '# none\nmirrors: [] # yet\n'],
    ['only comments', '# one\nmirrors:\n  # - name: a\n\n# two\n'],
    ['another section', '# one\nlog: { format: text } # two\n'],
    ['nothing', ''],
    ['a comment', '# one\n'],
    ['what the wizard writes', WIZARD],
  ])('comes last, and all else stays: %s', (_, source) => {
    const edited = withSection(source, 'mirrors', SECTION)
    const before = parse(source) ?? {}
    expect(parse(edited)).toEqual({ ...before, mirrors: [...(before.mirrors ?? []), SECTION] })
    const lines = source.split('\n').flatMap((line) => /#.*/.exec(line)?.[0] ?? [])
    for (const comment of lines) expect(edited).toContain(comment)
    const bare = (text: string) => text.replace(/^mirrors:\n|^\n/gm, '')
    if (!/[[{]/.test(edited)) expect(bare(edited.replace(ADDED, ''))).toBe(bare(source))
  })
})
