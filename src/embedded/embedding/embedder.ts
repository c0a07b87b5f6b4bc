/** What a text is embedded for. A person waits for the vector of a query, but not for those of documents. */
export type EmbeddingPurpose = 'query' | 'document'

export type Vector = Float32Array<ArrayBuffer>

/** Turns texts into vectors; those of texts with similar meanings are near each other. */
export interface Embedder {
  /** Identifies the model. Vectors of embedders with different ids cannot be compared. */
  readonly id: string
  /** Two texts with a smaller cosine are unrelated; 0 if this bound is unknown for the model. */
  readonly minSimilarity: number
  /** Resolves with a vector for each text, in their order; undefined for one that the model cannot judge. Throws EmbedderError. */
  embed(texts: readonly string[], purpose: EmbeddingPurpose): Promise<(Vector | undefined)[]>
  stop(): Promise<void>
}

interface EmbedderErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined
  readonly isAboutText?: boolean
}

/** The embedder gives no vectors now. `message` completes "Cannot embed: …". */
export class EmbedderError extends Error {
  /** How long the embedder asks not to be called; undefined if it names no time. */
  readonly retryAfterMs: number | undefined
  /** True if the embedder refuses these texts, but may accept others. */
  readonly isAboutText: boolean

  constructor(reason: string, { retryAfterMs, isAboutText = false, ...options }: EmbedderErrorOptions = {}) {
    super(reason, options)
    this.name = 'EmbedderError'
    this.retryAfterMs = retryAfterMs
    this.isAboutText = isAboutText
  }
}
