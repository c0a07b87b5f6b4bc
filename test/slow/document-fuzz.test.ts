import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readHere } from '../embedded/ingest/read-here.ts'
import { startLibrary } from '../embedded/temporary-library.ts'
import { fuzzing } from '../support/fuzzing.ts'

const TYPES = [
  'application/pdf',
  'application/rtf',
  'message/rfc822',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'text/html',
  'text/csv',
  'text/markdown',
  'application/json',
  'application/octet-stream',
  'image/png',
]
const MAX_PASSAGE_LENGTH = 2_400

const words = (text: string) => text.split(' ')

/** Marks of all kinds, whole and broken, and words between them. */
const piece = fc.constantFrom(
  ...words(
    `<p> <b> </b> </p> <br/> <div > </div> <script> </script <style> </style> <svg> </svg> <svg/> <title> </title>`,
  ),
  ...words(`<textarea> <!-- --> <![CDATA[ ]]> <? &amp & ; &#65; &#x10FFFF; &#0; ' " "" , ; | { } [ ] : \\ é 漢字 word`),
  ...['```', ' a="', '\t', '\n', '\r\n', '\r', '# ', '- ', '> ', 'zebra ', ' ', '   '],
  ...['\ufeff', '\u0000', '\u{1f600}', '\u202e'],
)
const structured = fc.array(
  fc.oneof(
    piece,
    fc.string({ maxLength: 20 }),
    piece.map((mark) => mark.repeat(300)),
  ),
  { maxLength: 60 },
)
const document = fc.oneof(
  structured.map((pieces) => Buffer.from(pieces.join(''))),
  // Documents that are cut anywhere and have some bytes changed.
  fc
    .tuple(structured, fc.nat(), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }))
    .map(([pieces, cut, changes]) => {
      const bytes = Buffer.from(pieces.join(''))
      for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
      return bytes.subarray(0, bytes.length === 0 ? 0 : cut % bytes.length)
    }),
  fc.json({ maxDepth: 6 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
)

/** The passages and the end of a document, or its error. */
async function extract(mimeType: string, chunks: readonly Buffer[]) {
  try {
    const { passages, end } = await readHere(mimeType, chunks)
    return { passages, end }
  } catch (error) {
    return { passages: [], end: String(error) }
  }
}

function splitInto(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end))
  return chunks.filter(({ length }) => length > 0)
}

describe('any document', () => {
  it('any document gives passages of bounded length, in order [S-17]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...TYPES), document, async (type, bytes) => {
        const { passages } = await extract(type, [bytes])
        let last = 1
        for (const { text, firstUnit, lastUnit } of passages) {
          expect(text.length).toBeLessThanOrEqual(MAX_PASSAGE_LENGTH)
          expect(text).toMatch(/\S/)
          expect(firstUnit).toBeGreaterThanOrEqual(last)
          expect(lastUnit).toBeGreaterThanOrEqual(firstUnit)
          last = firstUnit
        }
      }),
      fuzzing(1_000),
    )
  })

  it('any document gives the same text in pieces of any size [S-17]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TYPES),
        document,
        fc.array(fc.nat(), { maxLength: 6 }),
        async (type, bytes, cuts) => {
          expect(await extract(type, splitInto(bytes, cuts))).toEqual(await extract(type, [bytes]))
        },
      ),
      {
        ...fuzzing(1_000),
        examples: [
          ['text/html', Buffer.from('\x1b0'), [1]],
          ['application/pdf', Buffer.from('!\b'), [1]],
          ['application/octet-stream', Buffer.from('<?xml version="1.0"?>\n<a>b&amp;c</a>\n'), [1]],
        ],
      },
    )
  })

  it('only the first byte order mark is left out, however a document is cut', async () => {
    const bytes = Buffer.from('\ufeff\ufeffHerons wade')
    const [first] = (await extract('text/plain', [bytes])).passages
    expect(first?.text).toBe('\ufeffHerons wade')
    for (const cut of bytes.keys())
      expect((await extract('text/plain', splitInto(bytes, [cut]))).passages).toEqual([first])
  })

  it('any document reaches a final state and does not block another [S-17]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...TYPES), document), { minLength: 60, maxLength: 60 }),
        async (sent) => {
          const { client, stop } = await startLibrary()
          const id = await client.createLibrary()
          const ids: string[] = []
          for (const [index, [type, bytes]] of sent.entries()) {
            ids.push(await client.uploaded(id, { name: `${index}`, type, content: new Uint8Array(bytes) }))
          }
          const good = await client.uploaded(id, { name: 'good.html', type: 'text/html', content: '<p>good</p>' })
          for (const resource of ids) {
            const { ingestion_status: status } = await client.processed(id, resource)
            expect(['completed', 'completed_with_warnings', 'partial', 'failed']).toContain(status)
          }
          expect(await client.processed(id, good)).toMatchObject({ ingestion_status: 'completed', abstract: 'good' })
          await stop()
        },
      ),
      fuzzing(1),
    )
  })
})

describe('the cost of a document', () => {
  const SMALL = 128 * 1024
  const FACTOR = 8
  const MAX_TIMES = 4 * FACTOR
  const fill = (unit: string) => (size: number) => Buffer.from(unit.repeat(size / Buffer.byteLength(unit)))
  const following = (head: string, unit: string) => (size: number) =>
    Buffer.concat([Buffer.from(head), fill(unit)(size)])
  const half = (left: string, right: string) => (size: number) =>
    Buffer.concat([fill(left)(size / 2), fill(right)(size / 2)])

  it.each<[what: string, type: string, make: (size: number) => Buffer]>([
    ['nested <b>', 'text/html', fill('<b>')],
    ['nested <div>', 'text/html', half('<div>', '</div>')],
    ['ends that nothing began', 'text/html', half('<b>', '</x>')],
    ['nested forms and drawings', 'text/html', fill('<form><svg><title>')],
    ['one tag', 'text/html', following('<a ', 'b ')],
    ['one attribute', 'text/html', following('<a b="', 'x')],
    ['one name', 'text/html', following('<', 'a')],
    ['one comment', 'text/html', following('<!--', '-')],
    ['one line', 'text/html', fill('x ')],
    ['one blank', 'text/html', fill(' ')],
    ['entities', 'text/html', fill('&amp;')],
    ['an entity without end', 'text/html', following('&#', '0')],
    ['broken ends of a script', 'text/html', following('<script>', '</script')],
    ['commas', 'text/csv', following('a,b\n', ',')],
    ['quotes', 'text/csv', following('a,b\n', '"')],
    ['quotes amid cells', 'text/csv', following('a,b\n', 'a"b,')],
    ['line ends', 'text/csv', following('a,b\n', '\n')],
    ['one open cell', 'text/csv', following('a,b\n"', 'x\n')],
    ['one line', 'text/plain', fill('x')],
    ['line ends', 'text/plain', fill('\n')],
    ['levels', 'application/json', fill('[')],
    ['quotes of quotes', 'text/markdown', fill('> ')],
  ])('the cost of %s in %s grows no faster than its size [S-17]', async (_, type, make) => {
    const costOf = async (bytes: Buffer) => {
      const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) => index * 65_536)
      const before = process.cpuUsage()
      await extract(type, splitInto(bytes, pieces))
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const small = make(SMALL)
    const large = make(SMALL * FACTOR - 64)
    await costOf(small)
    const base = Math.max(10_000, await costOf(small))
    expect(await costOf(large)).toBeLessThan(base * MAX_TIMES)
  })
})
