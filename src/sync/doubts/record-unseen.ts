import type { ShelfdError } from '../../foundation/errors.ts'
import type { Engine } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import { quarantineUntil } from '../quarantine.ts'

/** The look for a content failed: it is not uploaded, and is looked for again after a quarantine. */
export function recordUnseen(
  context: Engine,
  { id, path }: { readonly id: number; readonly path: string },
  { code, message: reason }: ShelfdError,
  { exhausted }: RunAttempts,
): void {
  const { store, logger } = context
  exhausted.add(id)
  const message = `Cannot find out whether the service stored it: ${reason}`
  const retryAt = quarantineUntil(context, id, code)
  store.write(() => store.contents.setProblem(id, { code, message, retryAt }))
  logger.warn('cannot look for an earlier upload; the file waits', { path, code, reason })
}
