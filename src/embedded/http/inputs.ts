import { z } from 'zod'
import { normalizeLibraryPath } from '../../contract/library-path.ts'

const MAX_PATH_BYTES = 16_384
const MAX_NAME_BYTES = 1_024

/** Returns the shape of a whole number in a query, from `min` to `max`, both included. */
export function integerInput(bounds: { min: number; max: number; byDefault: number }) {
  const expected = `must be a whole number from ${bounds.min} to ${bounds.max}`
  return z
    .string()
    .transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
    .pipe(z.int(expected).min(bounds.min, expected).max(bounds.max, expected))
    .default(bounds.byDefault)
    .meta({
      type: 'integer',
      minimum: bounds.min,
      maximum: bounds.max,
    })
}

/** Returns the shape of a whole number in a query that the handler gets as text. */
export function integerText(description: string) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text), 'Must be a whole number')
    .meta({ type: 'integer', description })
}

/** A library path, which the shape brings into its canonical form. */
export const libraryPathInput = z
  .string()
  .max(MAX_PATH_BYTES)
  .transform((path, context) => {
    const normalized = normalizeLibraryPath(path)
    if (normalized?.split('/').every((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES)) {
      return normalized
    }
    context.addIssue({ code: 'custom', message: 'Must be an absolute library path without "." and ".." segments' })
    return z.NEVER
  })

export const cursorInput = z.string().min(1).optional()
