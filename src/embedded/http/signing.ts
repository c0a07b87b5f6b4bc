import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signs with HMAC-SHA256 and this service's secret, in hexadecimal. `purpose` keeps a signature of one kind from passing as another. */
export interface Signer {
  sign(purpose: string, text: string): string
  verify(purpose: string, text: string, signature: string): boolean
}

export function createSigner(secret: Buffer): Signer {
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('hex')
  return {
    sign,
    verify(purpose, text, signature) {
      if (!/^[0-9a-f]{64}$/.test(signature)) return false
      return timingSafeEqual(Buffer.from(sign(purpose, text)), Buffer.from(signature))
    },
  }
}
