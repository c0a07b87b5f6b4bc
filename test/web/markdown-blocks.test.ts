import { expect, test } from 'vitest'
import { markdownBlocks } from '../../src/web/library/document/markdown-blocks.ts'

test('Markdown is cut into headings, paragraphs, lists and code', () => {
  const text = [
    ...['# Tides', '', 'The spring tide', 'follows the moon.', '## Neap', 'Weaker.', ''],
    ...['- one', '- two', '', '```sh', '# no heading', '', 'ls', '```', '| a | b |', '|---|---|', '', 'The end.'],
  ].join('\n')
  expect(markdownBlocks(text).map(({ kind, text: part }) => [kind, part])).toEqual([
    ['heading', 'Tides'],
    ['paragraph', 'The spring tide follows the moon.'],
    ['heading', 'Neap'],
    ['paragraph', 'Weaker.'],
    ['lines', '- one\n- two'],
    ['code', '# no heading\n\nls'],
    ['code', '| a | b |\n|---|---|'],
    ['paragraph', 'The end.'],
  ])
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
