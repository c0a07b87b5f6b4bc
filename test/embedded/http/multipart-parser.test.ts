import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MalformedFormError,
  MultipartParser,
  type PartHeaders,
  readPartHeaders,
} from '../../../src/embedded/http/multipart-parser.ts'

interface ReadPart {
  readonly headers: PartHeaders
  readonly content: string
}

function read(chunks: readonly Buffer[]): ReadPart[] {
  const parts: { headers: PartHeaders; chunks: Buffer[] }[] = []
  const parser = new MultipartParser('B', {
    onPart: (headers) => {
      parts.push({ headers, chunks: [] })
    },
    onData: (bytes) => {
      parts.at(-1)?.chunks.push(bytes)
    },
  })
  for (const chunk of chunks) parser.feed(chunk)
  parser.end()
  return parts.map((part) => ({ headers: part.headers, content: Buffer.concat(part.chunks).toString('latin1') }))
}

function formOf(contents: readonly string[]): Buffer {
  const parts = contents.map((content) => `--B\r\nContent-Disposition: form-data; name="x"\r\n\r\n${content}\r\n`)
  return Buffer.from(`preamble\r\n${parts.join('')}--B--\r\nepilogue`, 'latin1')
}

// Bytes of delimiters are frequent, so that near misses are frequent as well.
const content = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', 'B', '\r\n--', '\r\n--A', 'x', '\u00ff'), { maxLength: 30 })
  .map((pieces) => pieces.join(''))
  .filter((text) => !text.includes('\r\n--B') && !text.startsWith('--B'))
const cuts = fc.array(fc.nat(400), { maxLength: 12 })

describe('MultipartParser', () => {
  it('any contents are read in any chunks', () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 4 }), cuts, (contents, at) => {
        const form = formOf(contents)
        const borders = [0, ...at.filter((cut) => cut < form.length).toSorted((a, b) => a - b), form.length]
        const chunks = borders.slice(1).map((end, index) => form.subarray(borders[index], end))
        expect(read(chunks).map((part) => part.content)).toEqual(contents)
      }),
    )
  })

  it('a form cut off anywhere is refused', () => {
    const form = formOf(['one', 'two'])
    const complete = form.indexOf('--B--') + '--B--'.length
    for (let length = 0; length < complete; length += 1) {
      expect(() => read([form.subarray(0, length)])).toThrow(MalformedFormError)
    }
    expect(read([form.subarray(0, complete)])).toHaveLength(2)
  })

  it('headers without an end are refused', () => {
    const form = Buffer.from(`--B\r\n${'X: y\r\n'.repeat(5_000)}`)
    expect(() => read([form])).toThrow(MalformedFormError)
  })
})

describe('readPartHeaders', () => {
  const fileName = (parameters: string) =>
    readPartHeaders(`\r\nContent-Disposition: form-data; name="file"; ${parameters}`).fileName

  it.each([
    ['filename="a b.txt"', 'a b.txt'],
    ['filename=plain.txt', 'plain.txt'],
    ['filename="q%22 %0A%0d %25.txt"', 'q" \n\r %25.txt'],
    ['filename="q\\"uote.txt"', 'q"uote.txt'],
    ['filename="back\\slash\\"', 'back\\slash\\'],
    ['filename="dir/ä; b=c.txt"', 'ä; b=c.txt'],
    [`filename="x"; filename*=UTF-8''n%C3%A4me%0A`, 'näme\n'],
    [`filename="x"; filename*=UTF-8''%`, 'x'],
    ['filename=""', ''],
    ['other="x"', undefined],
  ])('the file name is read from %s', (parameters, expected) => {
    expect(fileName(parameters)).toBe(expected)
  })

  it('the type of a part is read without its parameters', () => {
    expect(readPartHeaders('content-TYPE: Text/HTML; charset=x').mimeType).toBe('text/html')
  })
})
