/** Uploads from one thread of the program to another, by a message port. Both run the same version, so that messages need no check. */

/** One request of `uploadFile`, whose whole body is at hand. */
export interface PortUpload {
  /** Each upload of a port has a greater one than those before it. */
  readonly number: number
  readonly library: string
  readonly authorization: string
  readonly contentType: string
  /** Where its body begins and ends in the bytes of the message. */
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
