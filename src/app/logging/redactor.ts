import { createRedaction } from '../../foundation/text/redaction.ts'

export interface Redactor {
  /** Makes `redact` replace `secret`, also escaped or in base64. */
  add(secret: string): void
  redact(text: string): string
}

export function createRedactor(): Redactor {
  const redactions = new Map<string, (text: string) => string>()
  return {
    add(secret) {
      if (!redactions.has(secret)) redactions.set(secret, createRedaction(secret))
    },
    redact(text) {
      let clean = text
      for (const redact of redactions.values()) clean = redact(clean)
      return clean
    },
  }
}
