import { z } from 'zod'

/** Error bodies: readable text in `detail`, otherwise in `message`; `errors` holds messages by field. */
const errorBody = z.looseObject({
  detail: z.string().optional(),
  message: z.string().optional(),
  errors: z.unknown().optional(),
})

export interface ErrorText {
  readonly text: string | undefined
  readonly fields: readonly string[]
}

/** Reads the texts of an error body of any shape; never throws. */
export function readErrorBody(body: unknown): ErrorText {
  const parsed = errorBody.safeParse(body)
  if (!parsed.success) return { text: undefined, fields: [] }
  const { detail, message, errors } = parsed.data
  return { text: detail ?? message, fields: fieldMessages(errors) }
}

function fieldMessages(errors: unknown): string[] {
  if (typeof errors !== 'object' || errors === null) return []
  return Object.entries(errors)
    .slice(0, 20)
    .map(([field, messages]) => `${field}: ${[messages].flat().slice(0, 20).map(textOf).join(', ')}`)
}

/** Never converts an object, whose `toString` may be foreign or missing. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'a value that is not text' : String(value)
}
