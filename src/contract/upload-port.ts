/** Messages by which one thread sends uploads to another. Both threads run the same version, so messages are not checked. */

/** One request of `uploadFile` with its whole body. */
export interface PortUpload {
  /** Grows with each upload of the port. */
  readonly number: number
  readonly library: string
  readonly authorization: string
  readonly contentType: string
  /** Where the body begins and ends in the bytes of the message. */
  readonly start: number
  readonly end: number
}

/** The uploads of one turn of the event loop. */
export interface PortUploads {
  readonly uploads: readonly PortUpload[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface PortAnswer {
  readonly number: number
  readonly status: number
  /** JSON. */
  readonly body: string
}

export interface PortAnswers {
  readonly answers: readonly PortAnswer[]
  /** Only in the last message before the port closes: the service has taken no upload with a greater number. */
  readonly lastTaken?: number
}
