/** The purpose of embedding a text. A person waits for the answer to a query, but not for documents. */
export type EmbeddingPurpose = 'query' | 'document'

export type Vector = Float32Array<ArrayBuffer>

/** Turns texts into vectors that are near each other when the texts mean the same. */
export interface Embedder {
  /** Names the model, whose vectors cannot be compared with those of another name. */
  readonly id: string
  /** The cosine below which two texts have nothing to do with each other; 0 when it is not known of the model. */
  readonly minSimilarity: number
  /**
   * Resolves with one vector for each text, in their order; undefined for a text that the model cannot judge, such as one of a
   * language that it does not know. Throws EmbedderError.
   */
  embed(texts: readonly string[], purpose: EmbeddingPurpose): Promise<(Vector | undefined)[]>
  stop(): Promise<void>
}

interface EmbedderErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined
  readonly isAboutText?: boolean
}

/** The embedder gives no vectors now. `message` completes "Cannot embed: …". */
export class EmbedderError extends Error {
  /** The embedder asks for no request during this time. */
  readonly retryAfterMs: number | undefined
  /** True when it refuses these texts; others may be accepted. */
  readonly isAboutText: boolean

  constructor(reason: string, { retryAfterMs, isAboutText = false, ...options }: EmbedderErrorOptions = {}) {
    super(reason, options)
    this.name = 'EmbedderError'
    this.retryAfterMs = retryAfterMs
    this.isAboutText = isAboutText
  }
}
