/** Checks the uploads that a test service sees: a content is sent again only if no clear answer confirmed that it is stored (P3). */
import { createHash } from 'node:crypto'

/** One upload that came whole. */
interface JudgedUpload {
  readonly key: string
  readonly fileName: string
  isUnderWay: boolean
}

export interface UploadOracle {
  /** An upload came whole; the returned function ends it. */
  begin(upload: ReceivedUpload): (isKnownToBeStored: boolean) => void
  /** Throws if an upload was one too many. */
  assert(): void
}

export interface ReceivedUpload {
  /** The path of the request, which names the library. */
  readonly path: string
  readonly fileName: string
  /** The multipart form. */
  readonly body: Buffer
}

/** Judges uploads by library, bytes and MIME type. */
export function judgeUploads(): UploadOracle {
  const underWay = new Map<string, JudgedUpload>()
  const storedAs = new Map<string, string>()
  const complaints: string[] = []
  return {
    begin: ({ path, fileName, body }) => {
      const key = keyOf(path, body)
      const upload = { key, fileName, isUnderWay: true }
      const other = underWay.get(key)
      if (other) complaints.push(`"${fileName}" was sent while "${other.fileName}", the same content, was under way`)
      const known = storedAs.get(key)
      if (known !== undefined)
        complaints.push(`"${fileName}" was sent, although "${known}" had been answered as stored with the same content`)
      underWay.set(key, upload)
      return (isKnownToBeStored) => {
        if (!upload.isUnderWay) return
        upload.isUnderWay = false
        if (underWay.get(key) === upload) underWay.delete(key)
        if (isKnownToBeStored) storedAs.set(key, fileName)
      }
    },
    assert: () => {
      if (complaints.length > 0) throw new Error(`P3 does not hold:\n${complaints.join('\n')}`)
    },
  }
}

function keyOf(path: string, body: Buffer): string {
  const head = body.indexOf('name="file"')
  const start = body.indexOf('\r\n\r\n', head) + 4
  const mime = /content-type: *([^\r]*)/i.exec(body.subarray(head, start).toString('utf8'))?.[1] ?? ''
  const bytes = body.subarray(start, body.lastIndexOf('\r\n--'))
  return [path, mime, createHash('sha256').update(bytes).digest('hex')].join(' ')
}
