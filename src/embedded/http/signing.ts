import { createHmac, timingSafeEqual } from 'node:crypto'
import type { z } from 'zod'
import { invalid, unauthorized } from './api-error.ts'

export type Signer = ReturnType<typeof createSigner>

/** Signs with HMAC-SHA256, in hexadecimal. `purpose` keeps a signature of one kind from being accepted as one of another kind. */
export function createSigner(secret: Buffer) {
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('hex')
  return {
    sign,
    verify(purpose: string, text: string, signature: string): boolean {
      if (!/^[0-9a-f]{64}$/.test(signature)) return false
      return timingSafeEqual(Buffer.from(sign(purpose, text)), Buffer.from(signature))
    },
  }
}

/** The only tenant of this service. */
export const TENANT_ID = 1

export const VIEW_URL_MINUTES = { min: 1, max: 60, byDefault: 15 } as const

/** Returns `path` with a query that allows a GET without a credential until `untilMs`. Every parameter of it is signed. */
export function signedPath(signer: Signer, path: string, shown: Readonly<Record<string, string>>, untilMs: number) {
  const expires = String(Math.floor(untilMs / 1_000))
  const query = new URLSearchParams({ ...shown, expires, tenant_id: String(TENANT_ID) })
  query.set('signature', signer.sign('view-url', signedText(path, query)))
  return `${path}?${query}`
}

/** Throws 401 unless `signedPath` made this URL and it has not expired. */
export function verifySignedUrl(signer: Signer, url: string, nowMs: number): void {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost')
  const signature = query.get('signature')
  const expires = query.get('expires')
  if (!signature || !expires || !query.get('tenant_id')) throw unauthorized('A credential or a signed URL is needed')
  query.delete('signature')
  if (!signer.verify('view-url', signedText(pathname, query), signature))
    throw unauthorized('The signature is not valid')
  if (Number(expires) * 1_000 <= nowMs) throw unauthorized('The signed URL has expired')
}

function signedText(path: string, query: URLSearchParams): string {
  return `${path}?${new URLSearchParams([...query].sort())}`
}

export type Cursors = ReturnType<typeof createCursors>

/** Writes and reads opaque cursors of listings: a position, signed together with the name of its listing. */
export function createCursors(signer: Signer) {
  return {
    write(listing: string, position: unknown): string {
      const text = JSON.stringify(position)
      return `${Buffer.from(text).toString('base64url')}.${signer.sign('cursor', `${listing}\n${text}`)}`
    },
    /** Throws 422 unless this service wrote the cursor for this listing. */
    read<T>(listing: string, cursor: string, shape: z.ZodType<T>): T {
      const [encoded = '', signature = ''] = cursor.split('.')
      const text = Buffer.from(encoded, 'base64url').toString()
      if (cursor !== `${encoded}.${signature}` || !signer.verify('cursor', `${listing}\n${text}`, signature)) {
        throw invalid('cursor', 'The cursor does not belong to this listing')
      }
      return shape.parse(JSON.parse(text))
    },
  }
}
