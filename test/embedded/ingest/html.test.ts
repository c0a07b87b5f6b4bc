import { describe, expect, it } from 'vitest'
import { readHere } from './read-here.ts'

describe('a page of HTML', () => {
  it('preformatted text and code keep their lines, other text does not', async () => {
    const page = '<h1>Tides</h1><p>one\ntwo</p><pre><code>if (high) {\r\n  wait()\n}</code></pre><p>three\nfour'
    const expected = '# Tides\none two\nif (high) {\nwait()\n}\nthree four'
    for (const chunk of [1, 7, 1_000]) {
      const bytes = Buffer.from(page)
      const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
        bytes.subarray(at * chunk, (at + 1) * chunk),
      )
      expect((await readHere('text/html', chunks)).text).toBe(expected)
    }
  })

  it.each([
    ['<b><h1>Title</b></h1>Text', '# Title\nText'],
    ['<a><li>x</a></li>y', 'x\ny'],
    ['<font><div>one</font> two</div>three', 'one two\nthree'],
    ['<body>one</td>two</body>', 'one\ntwo'],
    ['<b><i>on</b></i>e', 'one'],
    ['<constructor>one</constructor>two', 'one\ntwo'],
  ])('each closing tag of a block ends its line, also in the wrong place: %s', async (page, expected) => {
    expect((await readHere('text/html', [Buffer.from(page)])).text).toBe(expected)
  })

  it.each([
    ['elements nested too deep', `${'<b>'.repeat(100_000)}tide<script>no()</script><style>p{}</style>`],
    ['a closing tag that the end cuts', '<p>tide</p x'],
  ])('only the text is read of %s', async (_, page) => {
    expect((await readHere('text/html', [Buffer.from(page)])).text).toBe('tide')
  })
})
