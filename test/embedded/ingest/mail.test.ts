import { describe, expect, it } from 'vitest'
import { pluck } from '../../contract/service-client.ts'
import { serviceOfFile } from './ingested.ts'
import { makePdf } from './make-pdf.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const MAIL = 'message/rfc822'
const HEAD =
  'From: =?utf-8?q?Ada_L=C3=B6w?= <ada@example.com>\r\nTo: Bob <bob@example.com>\r\nSubject: Dredging\r\nDate: Thu, 29 Feb 2024 10:00:00 +0000\r\n'

function withParts(...parts: readonly string[]): Buffer {
  const lines = parts.flatMap((part) => ['--B', part])
  return Buffer.from([`${HEAD}Content-Type: multipart/mixed; boundary=B`, '', ...lines, '--B--', ''].join('\r\n'))
}

const attached = (type: string, name: string, bytes: Buffer) =>
  `Content-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString('base64')}`

describe('a message', () => {
  it('a file without the headers of a message is read as text', async () => {
    expect(await readHere(MAIL, [Buffer.from('spring tide')])).toMatchObject({
      text: 'spring tide',
      end: { status: 'completed_with_warnings', warnings: [expect.stringMatching(/no headers/)] },
    })
  })

  it('a part that is not in the base64 that it declares is read as it is', async () => {
    const lying = 'Content-Transfer-Encoding: base64\r\nContent-Type: text/plain\r\n\r\n'
    const honest = Buffer.from('neap tide').toString('base64')
    for (const mail of [
      Buffer.from(`${HEAD}${lying}The spring tide, at noon.\r\n`),
      withParts(`${lying}The spring tide, at noon.`),
    ]) {
      const { text, end } = await readHere(MAIL, [mail])
      expect(text).toContain('The spring tide, at noon.')
      expect(end.warnings).toEqual([expect.stringMatching(/transfer encoding/)])
    }
    const { text, end } = await readHere(MAIL, [withParts(`${lying}${honest}`)])
    expect({ text, end }).toMatchObject({ text: expect.stringContaining('neap tide'), end: { warnings: [] } })
  })

  it('the cost of a message grows as its size [F-PR-14, S-17]', async () => {
    // Looked at from each of these lines to the end, they would take an hour.
    const lines = 'Content-Transfer-Encoding: base64\r\n'.repeat(200_000)
    const { text } = await readHere('message/rfc822', [Buffer.from(`Subject: A heron\r\n\r\n${lines}`)])
    expect(text).toContain('A heron')
  })

  it('a message is found by its words and those of its attachments', async () => {
    const content = withParts(
      'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe from the jetty',
      attached('application/pdf', 'plan.pdf', makePdf([{ lines: ['Sheet piles of larch'] }])),
      attached('text/csv', 'list.csv', Buffer.from('item,price\npump,7\n')),
    )
    const { record, found } = await ingested({ name: 'a.eml', type: MAIL, content: new Uint8Array(content) })
    expect(record).toMatchObject({
      ingestion_status: 'completed',
      ingestion_warnings: [],
      properties: { attachments: 2 },
    })
    expect(pluck(record.assets, 'text')).toEqual([
      '# Dredging\n\nFrom: Ada Löw <ada@example.com>\nTo: Bob <bob@example.com>\nDate: 2024-02-29T10:00:00.000Z\nAttachments: plan.pdf, list.csv\n\nGrüße from the jetty',
      'Sheet piles of larch',
      'item | price\npump | 7',
    ])
    expect(pluck(record.assets, 'trace')).toEqual([
      [{ unit: 'line', from: 1, to: 8 }],
      [{ unit: 'page', from: 1, to: 1, attachment: 'plan.pdf' }],
      [{ unit: 'row', from: 1, to: 2, attachment: 'list.csv' }],
    ])
    for (const word of ['dredging', 'jetty', 'larch', 'pump'])
      expect([word, await found(word)]).toEqual([word, [record.id]])
  })

  it('a message in HTML is read as its visible text', async () => {
    const html = `${HEAD}Content-Type: text/html; charset=utf-8\r\n\r\n<style>p{}</style><h1>Tide</h1><p>at <b>noon</b></p>`
    expect((await readHere(MAIL, [Buffer.from(html)])).text).toMatch(/\n\n# Tide\nat noon$/)
  })

  it('a message names the attachments that cannot be read', async () => {
    const mail = withParts(
      'Content-Type: text/plain\r\n\r\nsee below',
      attached('application/pdf', 'locked.pdf', makePdf([{ lines: ['x'] }], true)),
      attached('application/msword', 'old.doc', Buffer.from([0, 1, 2])),
    )
    expect((await readHere(MAIL, [mail])).end).toMatchObject({
      status: 'completed_with_warnings',
      warnings: [expect.stringMatching(/locked\.pdf.*password/), expect.stringMatching(/old\.doc.*cannot be read/)],
    })
  })

  it('a message that holds messages is read two deep', async () => {
    const nest = (inner: Buffer) => withParts('Content-Type: text/plain\r\n\r\nouter', attached(MAIL, 'in.eml', inner))
    const { text, end } = await readHere(MAIL, [nest(nest(nest(nest(Buffer.from(`${HEAD}\r\ninnermost`)))))])
    expect(text.match(/outer/g)?.length).toBe(3)
    expect({ text, end }).toMatchObject({
      text: expect.not.stringContaining('innermost'),
      end: { warnings: [expect.stringMatching(/too deep/)] },
    })
  })

  it('each message of a mailbox has its subject, and faults of one are named', async () => {
    const border = 'From bob@example.com Thu Feb 29 10:00:00 2024\r\n'
    const encrypted = `${HEAD}Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n`
    const second = `${HEAD.replace('Dredging', 'Buoys')}\r\n>From here on, green\r\n`
    const mailbox = [`${HEAD}\r\nspring\r\n\r\nFrom afar, a tide\r\n`, second, encrypted].map((each) => border + each)
    const { passages, end } = await readHere('application/mbox', [Buffer.from(mailbox.join('\r\n'))])
    expect(passages.map(({ text, detail }) => [detail?.message, text.split('\n\n').slice(2).join('\n\n')])).toEqual([
      ['Dredging', 'spring\n\nFrom afar, a tide'],
      ['Buoys', 'From here on, green'],
    ])
    expect(end).toMatchObject({
      status: 'completed_with_warnings',
      warnings: [expect.stringMatching(/^Message 3 \("Dredging"\): .*encrypted/)],
      properties: { messages: 3 },
    })
  })

  it('an empty message ends as partial, an encrypted or invalid one as failed', async () => {
    expect((await readHere(MAIL, [Buffer.from(`${HEAD}\r\n`)])).end.status).toBe('partial')
    const encrypted = withParts('Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1')
    await expect(readHere(MAIL, [encrypted])).rejects.toThrow(/encrypted/)
  })
})
