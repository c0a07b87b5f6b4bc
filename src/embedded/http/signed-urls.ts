import { unauthorized } from './api-error.ts'
import type { Signer } from './signing.ts'

/** This service has one tenant (2.2). */
export const TENANT_ID = 1

export const VIEW_URL_MINUTES = { min: 1, max: 60, byDefault: 15 } as const

export interface ViewUrlTerms {
  readonly ttlMinutes: number
  readonly disposition: 'inline' | 'attachment'
  /** Parameters of what it shows. */
  readonly query: Readonly<Record<string, string>>
}

/** Returns a URL that shows `path` without a credential until it expires (2.13). Every parameter is signed. */
export function signedUrl(signer: Signer, origin: string, path: string, terms: ViewUrlTerms, nowMs: number): string {
  const query = new URLSearchParams({
    ...terms.query,
    expires: String(Math.floor(nowMs / 1_000) + terms.ttlMinutes * 60),
    tenant_id: String(TENANT_ID),
    disposition: terms.disposition,
  })
  query.set('signature', signer.sign('view-url', signedText(path, query)))
  return `${origin}${path}?${query}`
}

/** Throws 401 unless `signedUrl` returned `url` (path and query) and it has not expired. */
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
