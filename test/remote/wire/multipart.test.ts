import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileError } from '../../../src/foundation/errors.ts'
import { openMultipart, SourceFailure } from '../../../src/remote/wire/multipart.ts'
import type { FileBody } from '../../../src/remote/wire/request.ts'
import { collect } from '../support.ts'

function bodyOf(bytes: Uint8Array, overrides: Partial<FileBody> = {}): FileBody {
  return {
    kind: 'file',
    fileName: 'a.md',
    mime: 'text/markdown',
    sizeBytes: bytes.length,
    fields: [],
    open: () => bytes,
    ...overrides,
  }
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes)
}

async function bytesOf(body: FileBody) {
  const payload = await openMultipart(body, Math.random)
  const chunks = Buffer.isBuffer(payload.content) ? [payload.content] : await collect(payload.content)
  return { ...payload, bytes: Buffer.concat(chunks) }
}

async function parsed(body: FileBody): Promise<FormData> {
  const { bytes, contentType } = await bytesOf(body)
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
}

async function fileIn(form: FormData): Promise<{ name: string; type: string; bytes: Uint8Array }> {
  const file = form.get('file')
  if (!(file instanceof File)) throw new Error('no file came back')
  return { name: file.name, type: file.type, bytes: await file.bytes() }
}

const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 })
const contents = fc.uint8Array({ maxLength: 3_000 })

describe('openMultipart', () => {
  it('a multipart body declares exactly the bytes it produces', async () => {
    const pieces = fc.option(fc.integer({ min: 1, max: 700 }), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        names,
        contents,
        pieces,
        fc.string({ unit: 'binary' }),
        async (fileName, bytes, piece, directory) => {
          const open = () => (piece === undefined ? bytes : inPieces(bytes, piece))
          const made = await bytesOf(bodyOf(bytes, { fileName, open, fields: [['path', directory]] }))
          expect(made.bytes.length).toBe(made.sizeBytes)
        },
      ),
    )
  })

  it('a multipart body carries any file name through a parser [F-FS-13]', async () => {
    await fc.assert(
      fc.asyncProperty(names, contents, async (fileName, bytes) => {
        const file = await fileIn(await parsed(bodyOf(bytes, { fileName: fileName.replaceAll('%', '') })))
        expect(file.name).toBe(fileName.replaceAll('%', ''))
        expect(Buffer.from(file.bytes).equals(bytes)).toBe(true)
      }),
    )
  })

  it('a hostile name stays inside its quotes [F-FS-13]', async () => {
    const fileName = 'a"; name="path"\r\nX-Evil: 1\r\n\r\nboo.md'
    const form = await parsed(bodyOf(Buffer.from('x'), { fileName, fields: [['path', '/docs']] }))
    expect([...form.keys()]).toEqual(['path', 'file'])
    expect(form.get('path')).toBe('/docs')
    expect((await fileIn(form)).name).toBe(fileName)
  })

  it('the fields of a multipart body come before the file', async () => {
    const { bytes } = await bytesOf(bodyOf(Buffer.from('x'), { fields: [['folder', '/a/b']] }))
    expect(bytes.indexOf('name="folder"')).toBeLessThan(bytes.indexOf('name="file"'))
  })

  it('a type that no header can carry is replaced', async () => {
    const form = await parsed(bodyOf(Buffer.from('x'), { mime: 'text/plain\r\nX-Evil: 1' }))
    expect((await fileIn(form)).type).toBe('application/octet-stream')
  })

  it('a small file is one buffer with its frame', async () => {
    const { content } = await openMultipart(bodyOf(Buffer.from('hello')), Math.random)
    expect(Buffer.isBuffer(content)).toBe(true)
  })

  it('a large multipart body is sent without copying it whole', async () => {
    const bytes = Buffer.alloc(700_000, 'z')
    const { content } = await openMultipart(bodyOf(bytes), Math.random)
    expect(Buffer.isBuffer(content)).toBe(false)
    expect(Buffer.from((await fileIn(await parsed(bodyOf(bytes)))).bytes).equals(bytes)).toBe(true)
  })

  it.each([4, 6])('a body that is not as long as declared is refused', async (sizeBytes) => {
    const bytes = Buffer.from('hello')
    await expect(bytesOf(bodyOf(bytes, { sizeBytes }))).rejects.toBeInstanceOf(FileError)
    const streamed = bytesOf(bodyOf(bytes, { sizeBytes, open: () => inPieces(bytes, 2) }))
    await expect(streamed).rejects.toBeInstanceOf(SourceFailure)
  })
})
