import type { z } from 'zod'
import { invalid } from './api-error.ts'
import type { Signer } from './signing.ts'

/** Writes and reads opaque cursors (2.14): a position, signed together with the name of its listing. */
export interface Cursors {
  write(listing: string, position: unknown): string
  /** Throws 422 unless this service wrote the cursor for this listing. */
  read<T>(listing: string, cursor: string, shape: z.ZodType<T>): T
}

export function createCursors(signer: Signer): Cursors {
  return {
    write(listing, position) {
      const text = JSON.stringify(position)
      return `${Buffer.from(text).toString('base64url')}.${signer.sign('cursor', `${listing}\n${text}`)}`
    },
    read(listing, cursor, shape) {
      const [encoded = '', signature = ''] = cursor.split('.')
      const text = Buffer.from(encoded, 'base64url').toString()
      if (cursor !== `${encoded}.${signature}` || !signer.verify('cursor', `${listing}\n${text}`, signature)) {
        throw invalid('cursor', 'The cursor is not one of this listing')
      }
      return shape.parse(JSON.parse(text))
    },
  }
}
