/** A page of lines of text, a page that is a picture (one byte for each pixel), or a blank one. */
export type MadePage =
  | { readonly lines: readonly string[] }
  | { readonly picture: { readonly width: number; readonly height: number; readonly data: Uint8Array } }
  | 'blank'

/** A PDF of these pages in Helvetica, which needs no font file; `isEncrypted` with an unknown password. */
export function makePdf(pages: readonly MadePage[], isEncrypted = false): Buffer {
  const objects: Buffer[] = []
  const add = (dictionary: string, stream?: Uint8Array) => {
    const body = stream
      ? [dictionary.replace('>>', `/Length ${stream.length}>>stream\n`), stream, '\nendstream']
      : [dictionary]
    objects.push(Buffer.concat(body.map((part) => Buffer.from(part))))
    return objects.length
  }
  const catalog = add('<</Type/Catalog/Pages 2 0 R>>')
  add('')
  const font = add('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>')
  const kids = pages.map((page) => {
    const { content, resources } = drawn(page, font, add)
    const stream = add('<<>>', Buffer.from(content, 'latin1'))
    return add(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<<${resources}>>/Contents ${stream} 0 R>>`)
  })
  objects[1] = Buffer.from(`<</Type/Pages/Count ${kids.length}/Kids[${kids.map((kid) => `${kid} 0 R`).join(' ')}]>>`)
  const secret = '00'.repeat(32)
  const encrypt = isEncrypted ? add(`<</Filter/Standard/V 1/R 2/P -4/O<${secret}>/U<${secret}>>>`) : 0
  return assemblePdf(objects, `/Root ${catalog} 0 R${encrypt ? `/Encrypt ${encrypt} 0 R/ID[<00><00>]` : ''}`)
}

type Add = (dictionary: string, stream?: Uint8Array) => number

function drawn(page: MadePage, font: number, add: Add): { content: string; resources: string } {
  if (page === 'blank') return { content: '', resources: '' }
  if ('lines' in page) {
    const lines = page.lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`)
    return { content: `BT /F 14 Tf 60 780 Td 20 TL ${lines.join('\n')} ET`, resources: `/Font<</F ${font} 0 R>>` }
  }
  const { width, height, data } = page.picture
  const size = `/Width ${width}/Height ${height}/ColorSpace/DeviceGray/BitsPerComponent 8`
  const image = add(`<</Type/XObject/Subtype/Image${size}>>`, data)
  const shown = Math.round((595 * height) / width)
  return { content: `q 595 0 0 ${shown} 0 ${842 - shown} cm /I Do Q`, resources: `/XObject<</I ${image} 0 R>>` }
}

/** A PDF of these objects, numbered from 1. */
export function assemblePdf(objects: readonly Buffer[], trailer: string): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')]
  const starts: number[] = []
  let length = parts[0]?.length ?? 0
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    starts.push(length)
    length += part.length
    parts.push(part)
  }
  const rows = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('')
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  parts.push(Buffer.from(`${table}trailer<</Size ${objects.length + 1}${trailer}>>\nstartxref\n${length}\n%%EOF\n`))
  return Buffer.concat(parts)
}
