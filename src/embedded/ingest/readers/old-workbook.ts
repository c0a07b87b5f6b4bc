import { MARGIN_CODE } from './workbook.ts'

/** Types of records of a workbook of Excel 97 to 2003 that have text beside the cells ([MS-XLS] 2.3.2). */
const TYPE = { header: 0x14, footer: 0x15, more: 0x3c, sheet: 0x85, object: 0x1b6, chart: 0x100d } as const
const HEAD_BYTES = 4
/** Where the record of a text box or a note has the number of its characters, which follow in further records. */
const OBJECT_LENGTH = 10

/** Returns names of sheets, headers, footers, titles of charts, and the texts of boxes and notes. */
export function textsBesideCells(workbook: Buffer): string[] {
  const texts: string[] = []
  let box = { text: '', left: 0 }
  for (let at = 0; at + HEAD_BYTES <= workbook.length; ) {
    const [type, length] = [workbook.readUInt16LE(at), workbook.readUInt16LE(at + 2)]
    const body = workbook.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    at += HEAD_BYTES + length
    if (type === TYPE.sheet) texts.push(charactersAt(body, 7, body[6] ?? 0))
    else if (type === TYPE.chart) texts.push(charactersAt(body, 3, body[2] ?? 0))
    else if ((type === TYPE.header || type === TYPE.footer) && length > 2)
      texts.push(charactersAt(body, 2, body.readUInt16LE(0)).replace(MARGIN_CODE, ' '))
    else if (type === TYPE.object && length >= OBJECT_LENGTH + 2)
      box = { text: '', left: body.readUInt16LE(OBJECT_LENGTH) }
    else if (type === TYPE.more && box.left > 0) {
      const text = charactersAt(body, 0, box.left)
      box = { text: box.text + text, left: box.left - text.length }
      if (box.left === 0 || text === '') texts.push(box.text)
    }
  }
  return texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
}

/** Characters after a byte that says whether each has one byte or two. */
function charactersAt(body: Buffer, at: number, count: number): string {
  const isWide = ((body[at] ?? 0) & 1) === 1
  return body.toString(isWide ? 'utf16le' : 'latin1', at + 1, at + 1 + (isWide ? 2 * count : count))
}
