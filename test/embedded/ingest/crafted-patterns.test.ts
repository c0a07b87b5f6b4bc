import { describe, expect, test } from 'vitest'
import { makeDocx, makeEpub, makeXlsx, TYPES } from './office-files.ts'
import { readHere } from './read-here.ts'

// Texts that a regular expression which matches a repeated part in two ways would search for minutes, or for ever.
const MANY = 200_000

describe('a document that was made to be searched for long is read at once', () => {
  test.each([
    ['text/vcard', `BEGIN:VCARD\nPHOTO:${'a'.repeat(4 * MANY)}\nNOTE:tide\nEND:VCARD\n`],
    ['text/vcard', `BEGIN:VCARD\n${'ENCODING=QUOTED-PRINTABLE'.repeat(MANY / 4)}\nNOTE:tide\nEND:VCARD\n`],
    ['text/troff', `.TH TIDE 1\n${'\\['.repeat(MANY)}\ntide\n`],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', `${'<!---->'.repeat(200)}x tide`],
    ['application/x-subrip', `1\n00:00:01,000 --> 00:00:02,000\n${'<'.repeat(MANY)}tide\n`],
  ])('%s (%#)', async (type, text) => {
    const read = await readHere(type, [Buffer.from(text)]).catch((error: Error) => ({ text: error.message }))
    expect(read.text).not.toBe('')
  })

  test('a manual page with a character that has the name of a property', async () => {
    const { text } = await readHere('text/troff', [Buffer.from('.TH TIDE 1\nhe\\[constructor]ron\n')])
    expect(text).toContain('he ron')
  })

  test('a document with readings that never end', async () => {
    const bytes = makeDocx(`<w:p>${'<w:ruby><w:rt>'.repeat(MANY / 4)}<w:r><w:t>tide</w:t></w:r></w:p>`)
    await expect(readHere(TYPES.docx, [bytes])).rejects.toThrow(/damaged/)
  })

  test('a document with readings that are incomplete is read as it is', async () => {
    const ruby = '<w:ruby><w:rubyBase><w:r><w:t>he</w:t></w:r></w:rubyBase></w:ruby>'
    const { text } = await readHere(TYPES.docx, [makeDocx(`<w:p>${ruby}<w:r><w:t>tide</w:t></w:r></w:p>`)])
    expect(text).toContain('tide')
    expect(text).not.toContain('()')
  })

  test('a book with readings that never end', async () => {
    const bytes = makeEpub([`<p>tide ${'<ruby><rt>'.repeat(MANY / 4)}</p>`])
    await expect(readHere(TYPES.epub, [bytes])).rejects.toThrow(/cannot be read/)
  })

  test('a workbook with a number format of brackets', async () => {
    const sheet = { A: '<row r="1"><c r="A1" s="1"><v>12</v></c></row>' }
    const { text } = await readHere(TYPES.xlsx, [makeXlsx(sheet, { formats: [0, '['.repeat(MANY)] })])
    expect(text).toContain('12')
  })
})
