import { messageOf } from '../../foundation/errors.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { adoptEmbedder } from './embed-resource.ts'
import type { Embedder, Vector } from './embedder.ts'
import {
  EMBEDDING_LIMITS,
  type EmbeddingLimits,
  type EmbeddingProgress,
  type EmbeddingStageSpec,
  openEmbeddingStage,
} from './embedding-stage.ts'
import { type EmbeddingEndpoint, openEndpointEmbedder } from './endpoint-embedder.ts'
import { isOfflineEmbedderInstalled, openOfflineEmbedder } from './offline-embedder.ts'

/** The vector of a query, which a search compares with chunks. */
export interface QueryVector {
  readonly vector: Vector
  readonly minSimilarity: number
}

/** The vector of a query, or a sentence for users that says why there is none. */
export type QueryVectorResult = { readonly semantic: QueryVector } | { readonly notice: string }

/** Semantic search: embeds documents and queries. */
export interface Semantics {
  /** Reports that there may be resources to embed. */
  wake(): void
  /** Embeds a query; never throws, since a search works without its vector. */
  ofQuery(query: string): Promise<QueryVectorResult>
  /** Embeds documents for at most `forMs`; with 0, only counts those that are not embedded. */
  embedFor(forMs: number): Promise<EmbeddingProgress>
  /** Returns a sentence for users about the resources that searches by meaning do not find; undefined if they find all. */
  gaps(): string | undefined
  /** Resolves when no resource is left to embed. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** The configured embedder: none, the English model of optional packages (`offline`), or a service. */
export type EmbedderChoice = { readonly kind: 'none' | 'offline' } | ({ readonly kind: 'endpoint' } & EmbeddingEndpoint)

export interface SemanticsSpec extends Omit<EmbeddingStageSpec, 'embedder' | 'limits'> {
  readonly choice: EmbedderChoice
  readonly limits: Partial<EmbeddingLimits> | undefined
  /** If false, only queries are embedded; other processes embed the documents. */
  readonly embedsDocuments: boolean
}

export function openSemantics({ choice, limits, embedsDocuments, ...parts }: SemanticsSpec): Semantics {
  const embedder = openEmbedder(choice, parts)
  if (!embedder) return withoutSemantics(choice)
  const stage = openEmbeddingStage({ ...parts, embedder, limits: { ...EMBEDDING_LIMITS, ...limits } })
  const wake = () => {
    if (embedsDocuments) stage.wake()
  }
  return {
    wake,
    ofQuery: async (query) => {
      try {
        if (await adoptEmbedder({ ...parts, embedder })) wake()
        const [vector] = await embedder.embed([query], 'query')
        if (vector) return { semantic: { vector, minSimilarity: embedder.minSimilarity } }
        const why = choice.kind === 'offline' ? 'knows English only' : 'has no vector for the query'
        return { notice: `Only terms were matched: the embedder of this instance ${why}.` }
      } catch (error) {
        return { notice: `Only terms were matched: ${messageOf(error)}.` }
      }
    },
    embedFor: stage.embedFor,
    gaps: () => {
      const { chunkVectors } = parts.tables
      const missing = chunkVectors.countToEmbed()
      if (missing === 0) return undefined
      const isNone = chunkVectors.isEmpty()
      const gap = isNone
        ? 'Meaning is not considered yet: no resource is embedded so far.'
        : `Meaning is considered for all but ${counted(missing, 'resource')} so far.`
      const whoEmbeds = `The daemon and "shelfd serve" embed ${isNone ? 'them' : 'the rest'} while they run, "shelfd library embed" at once.`
      return embedsDocuments ? gap : `${gap} ${whoEmbeds}`
    },
    settled: stage.settled,
    stop: stage.stop,
  }
}

/** Returns undefined if no embedder is configured, or the packages of the offline embedder are not installed. */
function openEmbedder(choice: EmbedderChoice, parts: Pick<SemanticsSpec, 'clock' | 'logger'>): Embedder | undefined {
  if (choice.kind === 'endpoint') return openEndpointEmbedder(choice, parts.clock)
  if (choice.kind === 'offline' && isOfflineEmbedderInstalled()) return openOfflineEmbedder(parts)
  return undefined
}

function withoutSemantics({ kind }: EmbedderChoice): Semantics {
  const why = kind === 'none' ? 'no embedder is configured' : 'its optional packages for English are not installed'
  const notice = `This instance matches terms only: ${why}.`
  return {
    wake: () => {},
    ofQuery: async () => ({ notice }),
    embedFor: async () => ({ missing: 0, isDone: true, failure: why }),
    gaps: () => notice,
    settled: async () => {},
    stop: async () => {},
  }
}
