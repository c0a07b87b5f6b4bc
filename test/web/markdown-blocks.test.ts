import { expect, test } from 'vitest'
import { markdownBlocks, tableRows } from '../../src/web/library/document/markdown-blocks.ts'

test('Markdown is cut into headings, paragraphs, lists and code', () => {
  const text = [
    ...['# Tides', '', 'The spring tide', 'follows the moon.', '## Neap', 'Weaker.', ''],
    ...[
      '- one',
      '- two',
      '',
      '```sh',
      '# no heading',
      '',
      'ls',
      '```',
      '| a | b |',
      '|---|---|',
      'Tail.',
      '',
      'The end.',
    ],
  ].join('\n')
  expect(markdownBlocks(text).map(({ kind, text: part }) => [kind, part])).toEqual([
    ['heading', 'Tides'],
    ['paragraph', 'The spring tide follows the moon.'],
    ['heading', 'Neap'],
    ['paragraph', 'Weaker.'],
    ['lines', '- one\n- two'],
    ['code', '# no heading\n\nls'],
    ['table', '| a | b |\n|---|---|'],
    ['paragraph', 'Tail.'],
    ['paragraph', 'The end.'],
  ])
})

test.each([
  [
    '| a | b |\n| --- | --- |\n|  | 1 |',
    [
      ['a', 'b'],
      ['', '1'],
    ],
  ],
  [
    'city | price\nBerlin | -',
    [
      ['city', 'price'],
      ['Berlin', '-'],
    ],
  ],
  ['| yes \\| no | :-) |', [['yes | no', ':-)']]],
])('a table has the cells of each line: %j', (text, rows) => {
  expect(tableRows(text)).toEqual(rows)
})

test('no words are lost, whatever stands in a text', () => {
  for (const text of [
    '```',
    '```\nopen',
    '~~~\na\n~~~\nb',
    '#\n##x',
    '\n\n',
    'a\r\nb',
    '    deep\n\n\n#### h',
    '> q\n> r  \ns',
  ]) {
    const shown = markdownBlocks(text).map(({ text: part }) => part)
    const words = (each: string) => each.match(/[a-z]+/g) ?? []
    expect([text, words(shown.join(' '))]).toEqual([text, words(text)])
  }
})
