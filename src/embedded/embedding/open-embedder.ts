import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Embedder } from './embedder.ts'
import { type EmbeddingEndpoint, openEndpointEmbedder } from './endpoint-embedder.ts'
import { isOfflineEmbedderInstalled, openOfflineEmbedder } from './offline-embedder.ts'

/** The embedder of a library: none, the English model in optional packages, or a service. */
export type EmbedderChoice = { readonly kind: 'none' | 'offline' } | ({ readonly kind: 'endpoint' } & EmbeddingEndpoint)

/** Returns undefined where search is not semantic: by choice, or because the packages of the offline embedder are not installed. */
export function openEmbedder(
  choice: EmbedderChoice,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Embedder | undefined {
  if (choice.kind === 'endpoint') return openEndpointEmbedder(choice, parts.clock)
  if (choice.kind === 'offline' && isOfflineEmbedderInstalled()) return openOfflineEmbedder(parts)
  return undefined
}
