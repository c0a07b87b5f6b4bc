/** Replaces secrets by value, wherever they turn up. */
export interface Redactor {
  /** From now on `secret` shows nowhere, also not percent-encoded or inside JSON. */
  add(secret: string): void
  redact(text: string): string
}

const PLACEHOLDER = '[secret]'

export function createRedactor(): Redactor {
  const forms = new Set<string>()
  return {
    add(secret) {
      if (secret === '') return
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) forms.add(form)
    },
    redact(text) {
      let clean = text
      for (const form of forms) clean = clean.replaceAll(form, PLACEHOLDER)
      return clean
    },
  }
}
